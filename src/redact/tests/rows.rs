//! What is a secret and what only looks like one, side by side.

use super::whole;
use crate::redact::redact;

#[test]
fn code_types_references_and_words_are_no_values() {
    let texts = [
        "password: string = input",
        "let token: &str = next(2)",
        "token = tokens[0]",
        "secret = x25519::generate()",
        "password = self.pw1",
        "token: Option<String>,",
        "fn f(password: &[u8; 32])",
        "password: None",
        "token = $1",
        "password: %DB_PW1%",
        "PASSWORD=/run/secrets/pw1",
        "token: 2026-01-01T10:00",
        "secret: v1.2.30",
        "token=https://h/p1",
        "token: 1700000000",
        "pass: 12, fail: 3",
        "key=user:42:profile",
        "${TOKEN:-none}",
        "let_token: Token![let],",
        "x_token: Option<Token![=>]>",
        "token: node.colon2_token",
        "private_key: rsa.RSAPrivateKey",
        "zPassPhrase: *const c1",
        "passwd = _raw_input2(prompt)",
        "_DD_SIGNATURE = 0x08074b50",
        "secret == other2secret",
        "token = FTS5_MAX_SIZE",
        "private_key: \"_EllipticCurvePrivateKey\"",
        "(\"token\"),\n  Value::Array(list2)",
        "user_pass = '%s1:%s'",
        "f\"password={password1!r}\"",
        "socks5h://<user>:<password>@proxy-host1 ",
        "Authorization: OAuth realm=films",
        "\"signature\": \"see the 2 pages of it\"",
        "pubkey256 = 'Ab1Ab1Ab1Ab1Ab1Ab1Ab1'",
        "token::new(a1b2c3)",
        "<password></password>",
        "password=\"\"",
        "token=…",
        "sig=asc",
        "\"eos_token\": \"</s1>\"",
        "nextPageToken: a1b2c3d4",
        "postgres://user:password@localhost/db",
        "postgres://user:${PW1}@h",
        "https://h:8443/@scope/pkg1",
        "git@github.com:o/r1.git",
        "Bearer authentication",
        "Authorization: Bearer <token1>",
        "public_key=Ab1Ab1Ab1Ab1Ab1Ab1Ab1",
    ];
    for text in texts {
        assert_eq!(redact(text), text);
    }
}

#[test]
fn a_short_token_is_hidden_if_it_looks_random_and_shown_if_it_is_a_name() {
    let tokens = [
        "s⟂k-proj-Zx81Kq0Lm4TnB7vW2yPd9RfHs3JcAe5U",
        "s⟂k-proj-Zx81Kq0L",
        "s⟂k-a7f3k9d2x1",
        "gh⟂p_yfFKtf7F5q",
        "xgh⟂r_8yFKU1ZHmi",
        "gl⟂pat-j8E3z3MlXJ",
        "GR1⟂3489419rf4kzZpqncUeu1gj1Cn",
        "xo⟂xb-XJGINQx1lC",
        "xa⟂pp-9WTBgEcalLvAb",
        "AI⟂zaU1U1VVwIXwAXD",
        "np⟂m_NnDa7er3om",
        "h⟂f_xpCnJ3IgFt",
        "sk⟂_live_ZVx7KeG7AX",
        "S⟂G.aB3dE5fG7h.J9kL1mN3",
        "AK⟂IAQJRDDDCW2GKBN9I0",
        "123456789:A⟂AHk5Lm8Np1Qr4St7Uv0W",
    ];
    for token in tokens.map(whole) {
        assert!(redact(&format!("see {token} ok")).contains("[redacted:"), "{token} is shown");
    }
    assert_eq!(redact("https://h/bot123456789:qFD8xntRqmWJkRL2TYb8GOWu/getMe"), "https://h/bot[redacted:telegram-token]/getMe");
    let names = [
        "sk-learn-contrib-tutorials",
        "sk-circle12",
        "sk-estimator-id-1",
        "sk-1234567890",
        "s⟂k-proj-your-key-goes-here-2",
        "s⟂k-proj-xxxxA1b2C3d4",
        "s⟂k-ant-api03-your-key-here",
        "npm_config_registry",
        "npm_package_version2",
        "hf_transformers_something",
        "hf_wav2vec2base",
        "self_hf_Qwen2VL7B",
        "glpat-docs.01.html",
        "xoxb-your-token-1",
        "AIzaGoogleKey1",
        "sk_test_data_2024",
        "disk_test_a1b2c3d4e5",
        "SG.SomeNamespace.SomeClass1",
        "AK⟂IABCDEFGHIJKLMNOPQRSTUV",
        "/bot12345678:version",
        "12345678:AAssertionFailedHere1",
    ];
    for name in names.map(whole) {
        assert_eq!(redact(&name), name);
    }
}

#[test]
fn all_between_begin_and_end_is_the_key() {
    let line = "MIIEowIBAAKCAQEAtestkeymaterial0";
    let long = "ZZZZB3NzaC1yc2EAAAADAQABAAABAQtestkeymaterial";
    let bodies = [
        format!("{line}00000\n{line}\n{long}"),
        format!("{line}\n{long}\nab\n{long}"),
        format!("{line}\nnot base64 at all, a note\n{long}"),
        format!("Proc-Type: 4,ENCRYPTED\n\n{line}\n{line}"),
        format!("09:00 key.pem {line}\n09:01 key.pem {long}"),
        format!("{line} \\n {long}\\n"),
    ];
    for body in bodies {
        let text = whole(&format!("a\n--⟂---BEGIN RSA PRIVATE KEY-----\n{body}\n-----END RSA PRIVATE KEY----- b"));
        let masked = redact(&text).into_owned();
        assert!(!masked.contains("keymaterial") && !masked.contains("note"), "{masked:?}");
        assert!(
            masked.starts_with("a\n-----BEGIN") && masked.ends_with("[redacted:private-key]\n-----END RSA PRIVATE KEY----- b")
                || body.ends_with("\\n"),
            "{masked:?}"
        );
    }
    // Without an END the key ends where base64 does; lines of uneven width belong to it.
    let open = whole(&format!("--⟂---BEGIN RSA PRIVATE KEY-----\n{long}00\n{long}\n{long}1\nand then prose"));
    assert_eq!(redact(&open), whole("--⟂---BEGIN RSA PRIVATE KEY-----\n[redacted:private-key]\nand then prose"));
    // The END of another block is not the END of this one, and no key is between markers in code.
    let kept = [
        "--⟂---BEGIN PRIVATE KEY-----\nnothing yet\n--⟂---BEGIN CERTIFICATE-----\nMIIBcertificateMIIBcertificate\n-----END CERTIFICATE-----",
        "starts_with(\"--⟂---BEGIN PRIVATE KEY-----\") && text.contains(\"-----END PRIVATE KEY-----\")",
        "--⟂---BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----",
    ];
    for text in kept.map(whole) {
        assert_eq!(redact(&text), text);
    }
}

#[test]
fn words_are_no_values_but_long_runs_passphrases_and_what_a_url_carries_are() {
    let hidden = [
        "https://h/v1?token=qwertyuiopasdfghjklzxcvbnm",
        "https://h/v1?a=1&amp;api_key=correct-horse-b",
        "https://h/cb#access_token=correcthorseb&x=1",
        "%26client_secret%3Dcorrecthorseb%26",
        "token=correcthorseb&user=bob",
        "?token=123e4567-e89b-12d3-a456-426614174000",
        "?session=Ab1Cd2Ef3Gh4Ij5Kl6Mn",
        "?code=Ab1Cd2Ef3Gh4Ij5Kl6Mn",
        "?jwt=bmTAg39Drp",
        "pass=bmTAg39Drp",
        "my password is correcthorsebatterystaple",
        "my password is correcthorsebatterystaple!",
        "secret: prefix-correcthorsebatterystaple",
        "password is Tr!ckyWord",
        "Passwort: correcthorsebatterystaple",
        "das Passwort ist geheim123",
        "--password correcthorsebatterystaple",
        "DB_PASSWORD=\"correct horse battery staple nine\"",
        "{\"password\": \"correct horse battery staple\"}",
        "${DB_PASSWORD:-hunter2}",
        "\"cvc\":\"123\"",
        "cvv: 1234",
        "\"cardNumber\": 4111142783475009",
        "card_number: \"4111 1427 8347 5009\"",
    ];
    for text in hidden {
        assert!(redact(text).contains("[redacted:"), "{text} is shown");
    }
    let shown = [
        "https://h/v1?token=YOUR_ACCESS_TOKEN",
        "https://h/v1?token=my-access-token",
        "https://h/v1?token={token}",
        "https://h/v1?token=config.token",
        "https://h/v1?token=short",
        "?page_token=correcthorseb",
        "?session=123e4567-e89b-12d3-a456-426614174000",
        "session: Ab1Cd2Ef3Gh4Ij5Kl6Mn",
        "code = Ab1Cd2Ef3Gh4Ij5Kl6Mn",
        "https://play/?code=0x01+//+QNaN%0A0x02+//+Zero%0A",
        "my password is incorrect",
        "the password is required!",
        "password is **not** stored",
        "Passwort: erforderlich",
        "password: \"please enter it here\"",
        "\"password\": \"the same as on the old machine\"",
        "PASSWORD=\"letmein\"",
        "${TOKEN:-default}",
        "pass: Pass2Fail",
        "cvc: 12",
        "cvc: none",
        "\"cardNumber\":\"4111111111111111\"",
        "card_number: 1234",
    ];
    for text in shown {
        assert_eq!(redact(text), text);
    }
}

//! Names and values as people write them, in several languages, and what invisible characters hide.

use super::whole;
use crate::redact::redact;

const VALUE: &str = "Zq9Xw!kk27Lm";

#[test]
fn the_value_is_hidden_in_every_everyday_wording() {
    let wordings = [
        "password: #",
        "**Password:** #",
        "**Password**: #",
        "the password is: #",
        "the password is #",
        "the password is \"#\"",
        "the password was # yesterday",
        "the password is now #, tell Bob",
        "password has been changed to #",
        "| password | # |",
        "| **Password** | `#` |",
        "|password|#|",
        "password:\n  #",
        "password:\n\n#\n",
        "Password:\r\n#\r\n",
        "password:\n```\n#\n```\n",
        "Password - #",
        "Password – #",
        "Password -> #",
        "Password → #",
        "your password \"#\"",
        "your password `#` works",
        "new password #",
        "password # for the wifi",
        "password for bob is #",
        "password for the admin account: #",
        "machine h login u password #",
        "client secret is #",
        "the access token is #",
        "api key is #",
        "**API key:** `#`",
        "API key - #",
        "| secret key | # |",
        "apikey #",
        "access key: #",
        "password＝#",
        "password：#",
        "Passwort: #",
        "das Passwort lautet #",
        "mot de passe : #",
        "le mot de passe est #",
        "contraseña: #",
        "la contraseña es #",
        "senha: #",
        "hasło: #",
        "wachtwoord: #",
        "пароль: #",
        "Пароль: #",
        "密码：#",
        "密码是#",
        "密碼: #",
        "パスワード: #",
        "비밀번호: #",
    ];
    for wording in wordings {
        for (value, kept) in [(VALUE, ""), ("hunter2hunter", ""), ("a8f9D2kLq0ZxCv", ""), (VALUE, " and more")] {
            // What follows would be another line or a column of a table.
            if !kept.is_empty() && (wording.ends_with(['\n', '|', '`']) || wording.contains("\n  ")) {
                continue;
            }
            let text = wording.replace('#', value) + kept;
            let masked = redact(&text).into_owned();
            assert!(!masked.contains(&value[..6]) && !masked.contains(&value[6..]), "{text:?} shows in {masked:?}");
            assert!(masked.contains("[redacted:") && masked.ends_with(kept), "{masked:?}");
            assert_eq!(redact(&masked), masked);
        }
    }
}

#[test]
fn sentences_tables_and_code_about_passwords_stay_readable() {
    let texts = [
        "password reset",
        "the password is wrong",
        "the password is: required",
        "token: the unit of text",
        "password - at least 8 characters",
        "new password must have 8 characters",
        "your password \"must\" be changed",
        "password for bob is wrong",
        "password for the database: see the wiki",
        "the token is base64-encoded and signed",
        "client secret is double-base64-encoded",
        "password sha256sum of the file",
        "the token `TICKET-4242` and",
        "| password | string | required |",
        "| token | a token of 32 bytes |",
        "| password |\n|---|\n",
        "cat password | sha256sum1 -c",
        "password:\n  secretKeyRef:\n    name: db1password\n",
        "password:\n  valueFrom1: x\n",
        "token:\n  description",
        "token:\n  type2string: 5\n",
        "password --stdin-from2",
        "git log --no-show-signature --pretty=format:'START1 %H'",
        "two-pass memchr2+SWAR code",
        "login anonymous password user@site",
        "password bob@example.com",
        "token -> TokenKind",
        "\"password\" | \"oauth2secret\" | \"x1y2z3a4b5\" => hide(),",
        "senha: obrigatória",
        "пароль: обязателен",
        "密码：必填",
        "パスワード: 必須です",
        "비밀번호: 필수",
        "mot de passe : obligatoire",
        "密码是必填的",
    ];
    for text in texts {
        assert_eq!(redact(text), text);
    }
}

#[test]
fn invisible_characters_hide_no_part_of_a_secret() {
    let hidden = [
        "\u{200b}",
        "\u{200c}",
        "\u{200d}",
        "\u{ad}",
        "\u{2060}",
        "\u{feff}",
        "\u{fe0f}",
        "\u{e0041}",
        "\u{202e}",
        "\u{1b}[0m",
        "\u{1b}[1;31m",
        "\u{1b}[K",
        "\u{1b}]0;title\u{7}",
        "\u{1b}(B",
        "\u{200b}\u{1b}[m\u{2060}",
    ];
    for hidden in hidden {
        let tokens = [
            format!("gh⟂p_A1b2C3d4E5f6G7h8I9{hidden}j0K1l2M3n4O5p6Q7r8"),
            format!("gh{hidden}⟂p_A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"),
            format!("gh⟂p_A1{hidden}b2{hidden}C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r{hidden}8"),
        ];
        for token in tokens.map(|token| whole(&token)) {
            for (before, after) in [("see ", " ok"), ("é", "é"), ("\u{200b}", "\u{200b}"), ("\u{1b}[32m", "\u{1b}[0m")] {
                let masked = redact(&format!("{before}{token}{after}")).into_owned();
                assert_eq!(masked, format!("{before}[redacted:github-token]{after}"), "{token:?}");
            }
        }
        assert_eq!(redact(&format!("pass{hidden}word: {VALUE}")), format!("pass{hidden}word: [redacted:password]"));
    }
    // What nobody hides anything with changes nothing.
    for text in
        ["👩\u{200d}💻 token ❤\u{fe0f}", "می\u{200c}خواهم", "\u{feff}fn main() {}", "\u{1b}[32mok\u{1b}[0m 3 passed", "a\u{ad}b\u{1b}"]
    {
        assert_eq!(redact(text), text);
    }
}

#[test]
fn many_control_sequences_are_walked_over_once() {
    // Walked over from each of them again, a text of this size would never end.
    for unit in ["\u{1b}]", "\u{1b}[", "\u{200b}", "a\u{200b}", "\u{1b}]0;a", "\u{1b}]a\u{7}", "a\u{ad}\u{1b}[0m"] {
        let text = unit.repeat(400_000);
        assert_eq!(redact(&text), text);
    }
}

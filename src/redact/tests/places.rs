//! Secrets by the place where they stand: command lines, cookies, JSON Web Keys, account numbers, password files, hashes.

use super::whole;
use crate::redact::redact;

/// Each `#` of the text stands for the secret.
fn assert_hidden(texts: &[&str], secret: &str) {
    for text in texts {
        let text = whole(text);
        let masked = redact(&text.replace('#', secret)).into_owned();
        let (before, behind) = text.split_once('#').expect("a place for the secret");
        assert!(!masked.contains(secret), "{secret} shows in {masked:?}");
        assert!(
            masked.starts_with(&format!("{before}[redacted:")) && masked.ends_with(behind.rsplit('#').next().expect("an end")),
            "{masked:?}"
        );
        assert_eq!(redact(&masked), masked, "a second run");
    }
}

fn assert_shown(texts: &[&str]) {
    for text in texts {
        assert_eq!(redact(&whole(text)), whole(text));
    }
}

#[test]
fn passwords_on_a_command_line_are_hidden() {
    assert_hidden(
        &[
            "curl -u bob:# https://h/v1",
            "curl -sS --user \"bob:#\" https://h/v1",
            "curl --user=bob:# https://h/v1",
            "curl -X POST \\\n  -u bob:# \\\n  https://h/v1",
            "curl --proxy-user 'p:#' https://h/v1",
            "{\"cmd\":\"curl -u bob:# https://h/v1\"}",
            "{\"cmd\":\"curl -u \\\"bob:#\\\" https://h/v1\"}",
            "$ mysql -h db -uroot -p# app",
            "sudo mysqldump -u root -p# app > dump.sql",
            "sshpass -p '#' ssh -p 2222 bob@h",
            "redis-cli -h r -a # ping",
            "docker login -u bob -p # registry.example",
            "htpasswd -bc .htpasswd bob #",
            "openssl rsa -in k.pem -passin pass:# -out p.pem",
            "sqlplus bob/#@//h:1521/X",
            "jdbc:oracle:thin:bob/#@//h:1521/X",
            "ngrok config add-authtoken #",
            "ls; curl -u bob:#",
            "psexec \\\\srv -u bob -p # cmd",
            "zip -P # a.zip b",
            "CREATE USER bob IDENTIFIED BY '#';",
            "ConvertTo-SecureString '#' -AsPlainText -Force",
            "WIFI:T:WPA;S:home;P:#;;",
            "wpa_psk=\"#\"",
        ],
        "Fake-Cli-Pw7",
    );
    assert_shown(&[
        "curl -u bob https://h/v1",
        "curl -u bob:$PW https://h/v1",
        "curl -u \"$USER:$PASS\" https://h/v1",
        "curl -u user:password https://h/v1",
        "curl -o out.json https://h:8443/v1",
        "mysql -p app",
        "mysql -P3306 app",
        "mysql -pPASSWORD app",
        "sshpass -e ssh -p 2222 bob@h",
        "ssh -p 2222 bob@h",
        "redis-cli -h r -p 6379 ping",
        "docker login -u bob --password-stdin registry.example",
        "docker run -p 8080:80 nginx",
        "htpasswd -c .htpasswd bob",
        "openssl rsa -in k.pem -passin env:PW",
        "sqlplus64 / as sysdba",
        "use curl and mysql -p to see it",
        "libcurl -u a:b1c2d3e4",
        "use wifi: it is faster; P: no",
        "WIFI:S:home;P:;;",
        "zip -r a.zip b",
    ]);
}

#[test]
fn cookies_that_identify_somebody_are_hidden() {
    assert_hidden(
        &[
            "Cookie: theme=dark; sessionid=#; lang=en",
            "Set-Cookie: connect.sid=#; Path=/; HttpOnly",
            "cookie: a=b; Secure; csrf_token=#",
            "curl -H 'Cookie: PHPSESSID=#' https://h",
            "\"Cookie\": \"JSESSIONID=#; a=b\"",
            "document.cookie = \"remember_me=#\"",
            "_gitlab_session=#",
        ],
        "149b2fa4ea4f041c2be78e3e60154a7b",
    );
    assert_shown(&[
        "Cookie: theme=dark; lang=en-GB; cookie_consent=accepted",
        "Set-Cookie: theme=dark; Path=/; Secure; SameSite=Lax",
        "the cookie session is over: sessionid=unknown",
        "Cookie: sessionid=<your session id>",
        "a cookie: sid=none",
    ]);
}

#[test]
fn the_private_members_of_a_json_web_key_are_hidden() {
    assert_hidden(
        &[
            "{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"abc\",\"d\":\"#\"}",
            "{\"d\": \"#\", \"kty\": \"RSA\"}",
            "{\"kty\":\"oct\",\"k\":\"#\"}",
            "{\\\"kty\\\":\\\"RSA\\\",\\\"qi\\\":\\\"#\\\"}",
            "{'kty': 'RSA', 'dp': '#'}",
        ],
        "nHW3xWUT3nUgpNkb6EFSwd41wzPzyZIEhxsmNDswgwI",
    );
    assert_shown(&[
        "{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"nHW3xWUT3nUgpNkb6EFSwd41wzPzyZIEhxsmNDswgwI\",\"y\":\"abc\"}",
        "{\"d\":\"nHW3xWUT3nUgpNkb6EFSwd41wzPzyZIEhxsmNDswgwI\"}",
        "{\"kty\":\"RSA\",\"n\":\"nHW3xWUT3nUgpNkb6EFSwd41wzPzyZIEhxsmNDswgwI\",\"e\":\"AQAB\",\"d\":1}",
    ]);
}

#[test]
fn account_numbers_are_hidden_by_country_length_and_check_digits() {
    // The examples of the registry of ISO 13616.
    let numbers = [
        "GB82 WEST 1234 5698 7654 32",
        "GB82WEST12345698765432",
        "DE89 3704 0044 0532 0130 00",
        "FR14 2004 1010 0505 0001 3M02 606",
        "NL91ABNA0417164300",
        "NO9386011117947",
        "MT84MALT011000012345MTLCAST001S",
        "CH9300762011623852957",
        "ES9121000418450200051332",
        "IT60X0542811101000000123456",
        "PL61109010140000071219812874",
        "BE68 5390 0754 7034",
    ];
    for number in numbers {
        assert_eq!(redact(&format!("pay to {number}, please")), "pay to [redacted:iban], please");
        let wrong = number.replacen(['8', '9', '6', '1'], "0", 1);
        assert_eq!(redact(&wrong), wrong);
    }
    assert_shown(&[
        "DE00500105175407324931",
        "XDE89370400440532013000",
        "ZZ89370400440532013000",
        "DE8937040044053201300",
        "ISO 13616 2020 2007",
    ]);
}

#[test]
fn hashes_of_passwords_and_lines_of_password_files_are_hidden() {
    assert_hidden(
        &["root:#:19000:0:99999:7:::", "hash = '#'"],
        "$6$rounds=5000$saltsalt$UCbUXT6fyhW6d8GR1nQkOyGIWAHmMHYiPXa5A3bXuNfHLmb1bAzQdDTH4Wg1fLwPNfYV6VdKJt6NsaPRyvuZn.",
    );
    assert_hidden(&["x #"], "$argon2id$v=19$m=65536,t=3,p=4$c29tZXNhbHQ$RdescudvJCsgt3ub+b2dWRWJTmaaJObG");
    assert_hidden(
        &["# ~/.pgpass\ndb.example:5432:app:bob:@", "*:*:*:bob:@"]
            .map(|text| text.replace('#', "x").replace('@', "#"))
            .each_ref()
            .map(String::as_str),
        "Fake-pgp4ss",
    );
    assert_shown(&[
        "cost is $2 or $6 each, $5$ is five",
        "db.example:5432:app:bob:password",
        "10.0.0.1:5432: connection refused: no route to host",
        "$1$ and $2b$ begin such hashes",
    ]);
}

#[test]
fn a_wallet_key_is_hidden_behind_its_name_alone() {
    let words = "legal winner thank year wave sausage worth useful legal winner thank yellow";
    assert_hidden(&["seed phrase: #\nkeep it", "MNEMONIC=\"#\"", "\"mnemonic\": \"#\""], words);
    assert_shown(&[
        words,
        "mnemonic: legal winner thank year",
        "the mnemonic of it is long and the words that follow are many and so on and on",
    ]);
}

#[test]
fn a_secret_key_of_aws_is_hidden_without_a_name() {
    assert_hidden(
        &["aws # end", "#", "key: #\n", "(#)", "\"#\"", "AWS: #."],
        "Dw1wA0OyUZJboO7Rr9cF/pYn⟂pmIlast529uQv2pv".replace('⟂', "").as_str(),
    );
    let key = "Dw1wA0OyUZJboO7Rr9cFApYnpmIlast529uQv2pv";
    for text in [
        format!("x{key}"),
        format!("{key}="),
        format!("a-{key}"),
        format!("{key}-a"),
        format!("sha1-{key}"),
        format!("{key}{key}\n{key}"),
        format!("{key}\n{key}{key}"),
        "9fceb02d0ae598e95dc970b74767f19372d61af8".to_owned(),
        "GetUserAccountInformationByIdentifier2Ok".to_owned(),
        "src/Main/Java/Example/Service/Handler1/X".to_owned(),
    ] {
        assert_eq!(redact(&text), text);
    }
}

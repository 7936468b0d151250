//! The rules as data: which literal is looked for, what it means, and which verifier decides.
//!
//! A literal is matched in either case; verifiers of tokens then insist on the case that is written here. Adding a credential kind is
//! adding a row, and a case to `tests/data/redact-kinds.jsonl`.

use super::MASK_OPEN;
use super::scan::Alphabet::{self, Alnum, Dotted, Token68, Url64, Word};

/// One literal and what to do where it occurs.
#[derive(Debug)]
pub(super) struct Rule {
    pub(super) literal: &'static str,
    /// The word in the mask.
    pub(super) kind: &'static str,
    pub(super) verify: Verify,
}

/// Who decides whether a literal is part of a secret.
#[derive(Clone, Copy, Debug)]
pub(super) enum Verify {
    /// The literal begins a token of `body`. From `full` characters on it only has to be no word, a shorter one has to look random.
    Token { body: Alphabet, full: usize, start: Start },
    /// The literal ends the name of something, its value follows.
    Value(Strength),
    /// The literal is the name of an HTTP header; scheme and credential follow.
    Authorization,
    /// The literal is an authentication scheme outside of its header.
    Bearer,
    /// The literal begins an AWS access key id.
    AwsKeyId,
    /// `SG.` and two parts with a dot between, 22 and 43 long
    SendGrid,
    /// Bot id, `:AA` and 33 more, or fewer that look random
    Telegram,
    /// In the path of a URL: bot id, `:` and 20 more that look random
    TelegramPath,
    /// base64url parts with dots between, the first of them a JSON object
    Jwt,
    /// The literal ends the label of a PEM block.
    Pem,
    /// The literal stands between scheme and authority of a URL.
    Url,
    /// The literal is the beginning of a path that is itself the secret.
    Webhook,
    /// The literal opens a mask: what follows has been redacted before.
    Mask,
}

/// Where a token may begin, and what else its beginning is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Start {
    /// At a border.
    Border,
    /// Anywhere: the beginning is so rare that it is one in the middle of a word, too.
    Anywhere,
    /// At a border, and names in code begin so too: a short body needs capitals, small letters and digits.
    Name,
}

/// How much the name alone says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Strength {
    /// `password`: short values and numbers count too.
    Password,
    /// `token`, `api_key`: values of six characters that are no words.
    Secret,
    /// `key`, `auth`: only long values that look random.
    Weak,
    /// `pass`, `jwt`: values of eight characters that look random.
    Mixed,
    /// `session`, `code`: only in a URL or a form, and only long values that look random.
    Query,
    /// `card_number`: any number of the right length.
    Card,
    /// `cvc`: three or four digits.
    CardCode,
}

const fn token(literal: &'static str, kind: &'static str, body: Alphabet, full: usize) -> Rule {
    Rule { literal, kind, verify: Verify::Token { body, full, start: Start::Border } }
}

const fn glued(literal: &'static str, kind: &'static str, body: Alphabet, full: usize) -> Rule {
    Rule { literal, kind, verify: Verify::Token { body, full, start: Start::Anywhere } }
}

const fn name(literal: &'static str, kind: &'static str, body: Alphabet, full: usize) -> Rule {
    Rule { literal, kind, verify: Verify::Token { body, full, start: Start::Name } }
}

const fn value(literal: &'static str, kind: &'static str, strength: Strength) -> Rule {
    Rule { literal, kind, verify: Verify::Value(strength) }
}

const fn rule(literal: &'static str, kind: &'static str, verify: Verify) -> Rule {
    Rule { literal, kind, verify }
}

/// Every rule.
#[rustfmt::skip]
pub(super) static RULES: &[Rule] = &[
    rule(MASK_OPEN, "", Verify::Mask),

    // Models.
    token("sk-", "openai-key", Alnum, 20),
    token("sk-proj-", "openai-key", Url64, 40),
    token("sk-svcacct-", "openai-key", Url64, 40),
    token("sk-admin-", "openai-key", Url64, 40),
    token("sk-ant-", "anthropic-key", Url64, 24),
    token("sk-or-v1-", "openrouter-key", Alnum, 32),
    name("hf_", "huggingface-token", Alnum, 30),
    token("api_org_", "huggingface-token", Alnum, 30),
    token("AIza", "google-api-key", Url64, 35),
    token("ya29.", "google-oauth-token", Url64, 30),
    token("GOCSPX-", "google-client-secret", Url64, 24),

    // Forges and package registries.
    glued("ghp_", "github-token", Alnum, 36),
    glued("gho_", "github-token", Alnum, 36),
    glued("ghu_", "github-token", Alnum, 36),
    glued("ghs_", "github-token", Alnum, 36),
    glued("ghr_", "github-token", Alnum, 36),
    glued("github_pat_", "github-token", Word, 40),
    glued("glpat-", "gitlab-token", Dotted, 20),
    glued("gldt-", "gitlab-token", Dotted, 20),
    glued("glrt-", "gitlab-token", Dotted, 20),
    glued("glcbt-", "gitlab-token", Dotted, 20),
    glued("glptt-", "gitlab-token", Dotted, 20),
    glued("gloas-", "gitlab-token", Dotted, 20),
    glued("glft-", "gitlab-token", Dotted, 20),
    glued("glimt-", "gitlab-token", Dotted, 20),
    glued("glagent-", "gitlab-token", Dotted, 20),
    glued("glwt-", "gitlab-token", Dotted, 20),
    glued("glsoat-", "gitlab-token", Dotted, 20),
    glued("glffct-", "gitlab-token", Dotted, 20),
    token("GR1348941", "gitlab-token", Url64, 20),
    name("npm_", "npm-token", Alnum, 36),
    token("pypi-AgE", "pypi-token", Url64, 50),

    // Clouds and payment.
    rule("AKIA", "aws-access-key-id", Verify::AwsKeyId),
    rule("ASIA", "aws-access-key-id", Verify::AwsKeyId),
    rule("ABIA", "aws-access-key-id", Verify::AwsKeyId),
    rule("ACCA", "aws-access-key-id", Verify::AwsKeyId),
    token("sk_live_", "stripe-key", Alnum, 16),
    token("sk_test_", "stripe-key", Alnum, 16),
    token("rk_live_", "stripe-key", Alnum, 16),
    token("rk_test_", "stripe-key", Alnum, 16),
    token("whsec_", "stripe-key", Token68, 24),

    // Messages and mail.
    glued("xoxb-", "slack-token", Token68, 20),
    glued("xoxp-", "slack-token", Token68, 20),
    glued("xoxa-", "slack-token", Token68, 20),
    glued("xoxr-", "slack-token", Token68, 20),
    glued("xoxs-", "slack-token", Token68, 20),
    glued("xoxc-", "slack-token", Token68, 20),
    glued("xoxd-", "slack-token", Token68, 20),
    glued("xoxe-", "slack-token", Token68, 20),
    glued("xoxe.xox", "slack-token", Token68, 20),
    token("xapp-", "slack-token", Token68, 20),
    rule("hooks.slack.com/", "slack-webhook", Verify::Webhook),
    rule("/api/webhooks/", "discord-webhook", Verify::Webhook),
    rule(":AA", "telegram-token", Verify::Telegram),
    rule("/bot", "telegram-token", Verify::TelegramPath),
    rule("SG.", "sendgrid-key", Verify::SendGrid),
    token("xkeysib-", "brevo-key", Url64, 64),

    // Of nobody in particular.
    rule("eyJ", "jwt", Verify::Jwt),
    rule("private key", "private-key", Verify::Pem),
    token("AGE-SECRET-KEY-1", "age-key", Alnum, 50),
    rule("://", "url-password", Verify::Url),
    rule("authorization", "authorization", Verify::Authorization),
    rule("bearer", "authorization", Verify::Bearer),

    // Names whose value is secret.
    value("password", "password", Strength::Password),
    value("passwd", "password", Strength::Password),
    value("passphrase", "password", Strength::Password),
    value("passwort", "password", Strength::Password),
    value("passcode", "password", Strength::Password),
    value("mot de passe", "password", Strength::Password),
    value("contraseña", "password", Strength::Password),
    value("senha", "password", Strength::Password),
    value("hasło", "password", Strength::Password),
    value("wachtwoord", "password", Strength::Password),
    value("пароль", "password", Strength::Password),
    value("Пароль", "password", Strength::Password),
    value("密码", "password", Strength::Password),
    value("密碼", "password", Strength::Password),
    value("パスワード", "password", Strength::Password),
    value("비밀번호", "password", Strength::Password),
    value("pwd", "password", Strength::Password),
    value("_pass", "password", Strength::Password),
    value("-pass", "password", Strength::Password),
    value(".pass", "password", Strength::Password),
    value("secret", "secret", Strength::Secret),
    value("secret_key", "secret", Strength::Secret),
    value("secret-key", "secret", Strength::Secret),
    value("secret key", "secret", Strength::Secret),
    value("secretkey", "secret", Strength::Secret),
    value("secret_key_base", "secret", Strength::Secret),
    value("secret_access_key", "aws-secret-key", Strength::Secret),
    value("secretaccesskey", "aws-secret-key", Strength::Secret),
    value("token", "token", Strength::Secret),
    value("api_key", "api-key", Strength::Secret),
    value("api-key", "api-key", Strength::Secret),
    value("api key", "api-key", Strength::Secret),
    value("apikey", "api-key", Strength::Secret),
    value("api%5fkey", "api-key", Strength::Secret),
    value("access_key", "api-key", Strength::Secret),
    value("access-key", "api-key", Strength::Secret),
    value("access key", "api-key", Strength::Secret),
    value("accesskey", "api-key", Strength::Secret),
    value("account_key", "api-key", Strength::Secret),
    value("accountkey", "api-key", Strength::Secret),
    value("private_key", "private-key", Strength::Secret),
    value("privatekey", "private-key", Strength::Secret),
    value("presharedkey", "private-key", Strength::Secret),
    value("encryption_key", "secret", Strength::Secret),
    value("signing_key", "secret", Strength::Secret),
    value("credential", "secret", Strength::Secret),
    value("credentials", "secret", Strength::Secret),
    value("signature", "signature", Strength::Secret),
    value("sig", "signature", Strength::Weak),
    value("key", "secret", Strength::Weak),
    value("auth", "secret", Strength::Weak),
    value("pass", "password", Strength::Mixed),
    value("jwt", "jwt", Strength::Mixed),
    value("session", "session", Strength::Query),
    value("code", "authorization", Strength::Query),
    value("card_number", "payment-card", Strength::Card),
    value("card-number", "payment-card", Strength::Card),
    value("cardnumber", "payment-card", Strength::Card),
    value("cvc", "card-code", Strength::CardCode),
    value("cvv", "card-code", Strength::CardCode),
    value("security_code", "card-code", Strength::CardCode),
    value("securitycode", "card-code", Strength::CardCode),
];

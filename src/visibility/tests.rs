//! The rule against 1,914 decisions recorded from `OpenClaw` 2026.9.6, then what is ours alone.

use std::io::Read;

use serde_json::{Value, json};

use super::{Caller, Denial, Policy, Session, Tree, Visibility, is_incognito};

/// One decision a line: `kind` effective (visibility after the sandbox clamp), a2a (agent to agent) or row, `sep` = what `OpenClaw` said.
const VECTORS: &[u8] = include_bytes!("../../tests/data/visibility-vectors.jsonl.zst");

fn vectors(kind: &str) -> Vec<Value> {
    let mut text = String::new();
    ruzstd::decoding::StreamingDecoder::new(VECTORS).unwrap().read_to_string(&mut text).unwrap();
    let all: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(all.len(), 1914);
    all.into_iter().filter(|vector| vector["kind"] == kind).collect()
}

fn policy(value: &Value) -> Policy {
    Policy::from_json(value).unwrap()
}

fn refusal(value: &Value) -> String {
    Policy::from_json(value).unwrap_err().to_string()
}

fn session(row: &Value) -> Session<'_> {
    Session {
        session_key: row["key"].as_str().unwrap(),
        agent_id: row["agentId"].as_str(),
        parent_session_key: row["parentSessionKey"].as_str(),
        spawned_by: row["spawnedBy"].as_str(),
        owner_session_key: row["ownerSessionKey"].as_str(),
    }
}

fn answer(decision: Result<(), Denial>) -> &'static str {
    decision.map_or_else(Denial::as_str, |()| "allow")
}

/// The policy object of a `row` vector; `agent_to_agent` replaces the recorded one.
fn row_policy(vector: &Value, agent_to_agent: &Value) -> Value {
    json!({
        "visibility": vector["visibility"],
        "agentToAgent": agent_to_agent,
        "agentId": vector["callerAgent"],
        "mainSessionKey": vector["mainSessionKey"],
    })
}

fn switched_on(agent_to_agent: &Value) -> Value {
    let mut access = agent_to_agent.clone();
    access.as_object_mut().unwrap().entry("enabled").or_insert(json!(true));
    access
}

#[test]
fn every_recorded_row_is_decided_the_same_with_agent_to_agent_spelled_out() {
    let rows = vectors("row");
    assert_eq!(rows.len(), 1816);
    for row in rows {
        let policy = policy(&row_policy(&row, &switched_on(&row["a2a"])));
        let caller = Caller::new(row["caller"].as_str().unwrap(), &policy);
        assert_eq!(answer(caller.decide(&session(&row["target"]))), row["sep"], "{row}");
        assert_eq!(caller.sees(&session(&row["target"])), row["sep"] == "allow", "{row}");
    }
}

#[test]
fn every_recorded_row_differs_only_where_agent_to_agent_is_not_switched_on() {
    let mut off_by_default = 0;
    for row in vectors("row") {
        let policy = policy(&row_policy(&row, &row["a2a"]));
        let caller = Caller::new(row["caller"].as_str().unwrap(), &policy);
        let ours = answer(caller.decide(&session(&row["target"])));
        if row["sep"] != ours {
            let named = row["a2a"] == json!({}) && row["sep"] == "allow" && ours == "agent_to_agent_disabled";
            assert!(named, "{ours}: {row}");
            off_by_default += 1;
        }
    }
    assert_eq!(off_by_default, 30);
}

#[test]
fn every_recorded_agent_pair_is_decided_the_same_or_is_a_named_difference() {
    let pairs = vectors("a2a");
    assert_eq!(pairs.len(), 45);
    let (mut off_by_default, mut wrong_type) = (0, 0);
    for pair in pairs {
        let Ok(policy) = Policy::from_json(&json!({"visibility": "all", "agentToAgent": pair["policy"]})) else {
            // The host takes a word for a switch and a word for a list, both as if they were not there.
            assert!(pair["policy"]["enabled"].is_string() || pair["policy"]["allow"].is_string(), "{pair}");
            wrong_type += 1;
            continue;
        };
        let caller_key = format!("agent:{}:main", pair["requester"].as_str().unwrap());
        let target_key = format!("agent:{}:explicit:1", pair["target"].as_str().unwrap());
        let target = Session { session_key: &target_key, ..Session::default() };
        let allowed = Caller::new(&caller_key, &policy).sees(&target);
        if policy.agent_to_agent.enabled == pair["sep"]["enabled"] {
            assert_eq!(allowed, pair["sep"]["allowed"], "{pair}");
        } else {
            assert!(pair["policy"].get("enabled").is_none(), "{pair}");
            assert_eq!(allowed, pair["requester"] == pair["target"], "{pair}");
            off_by_default += 1;
        }
    }
    assert_eq!((off_by_default, wrong_type), (7, 6));
}

#[test]
fn every_recorded_effective_visibility_is_the_same_or_is_a_named_difference() {
    let cases = vectors("effective");
    assert_eq!(cases.len(), 53);
    let (mut unknown_word, mut tree_by_default, mut self_stays_self) = (0, 0, 0);
    for case in cases {
        let mut given = json!({"sandboxed": case["sandboxed"]});
        for key in ["visibility", "sessionToolsVisibility"] {
            if !case[key].is_null() {
                given[key] = case[key].clone();
            }
        }
        let Ok(policy) = Policy::from_json(&given) else {
            let is_word = |key: &str, words: &[&str]| {
                let word = case[key].as_str().map(|word| word.trim().to_lowercase());
                case[key].is_null() || word.is_some_and(|word| words.contains(&word.as_str()))
            };
            let known = is_word("visibility", &["self", "tree", "agent", "all"]) && is_word("sessionToolsVisibility", &["spawned", "all"]);
            assert!(!known, "{case}");
            unknown_word += 1;
            continue;
        };
        match (Caller::new("agent:main:main", &policy).visibility, case["sep"].as_str().unwrap()) {
            (Visibility::Own, "self") | (Visibility::Tree, "tree") | (Visibility::Agent, "agent") | (Visibility::All, "all") => {}
            (Visibility::Tree, "all") if case["visibility"].is_null() => tree_by_default += 1,
            (Visibility::Own, "tree") if case["visibility"] == "self" && case["sandboxed"] == true => self_stays_self += 1,
            (ours, theirs) => panic!("{ours:?} is not {theirs}: {case}"),
        }
    }
    assert_eq!((unknown_word, tree_by_default, self_stays_self), (19, 6, 1));
}

#[test]
fn caller_without_a_usable_key_sees_nothing() {
    let policy = policy(&json!({"visibility": "all", "agentToAgent": {"enabled": true}, "agentId": "main", "mainSessionKey": "global"}));
    for key in
        ["", "  ", "\n", "agent:", "agent::bad", "agent:main", "agent:main:", "agent:main::x", "agent: :x", "AGENT::", "agent:main: "]
    {
        let caller = Caller::new(key, &policy);
        for row in vectors("row") {
            assert_eq!(caller.decide(&session(&row["target"])), Err(Denial::CallerUnusable), "{key:?} {row}");
        }
        let own = Session { session_key: key, agent_id: Some("main"), spawned_by: Some(key), ..Session::default() };
        assert!(!caller.sees(&own), "{key:?}");
    }
}

#[test]
fn caller_whose_agent_nobody_names_meets_only_sessions_without_an_agent() {
    let policy = policy(&json!({"visibility": "all", "agentToAgent": {"enabled": true}}));
    let caller = Caller::new("global", &policy);
    for (session_key, agent_id, expected) in [
        ("global", None, "allow"),
        ("cron:1", None, "allow"),
        ("cron:1", Some(" "), "allow"),
        ("global", Some("main"), "agent_to_agent_not_allowed"),
        ("agent:main:main", None, "agent_to_agent_not_allowed"),
        ("agent::", None, "target_agent_ownership_unavailable"),
    ] {
        let session = Session { session_key, agent_id, ..Session::default() };
        assert_eq!(answer(caller.decide(&session)), expected, "{session_key} {agent_id:?}");
    }
}

#[test]
fn sandbox_shows_only_what_the_caller_started() {
    let (main, sub) = ("agent:main:main", "agent:main:subagent:1");
    for (caller, visibility, row, expected) in [
        (main, "all", json!({"key": main}), "allow"),
        (main, "self", json!({"key": main}), "allow"),
        (main, "all", json!({"key": sub, "spawnedBy": main}), "allow"),
        (main, "tree", json!({"key": sub, "spawnedBy": main}), "allow"),
        (main, "self", json!({"key": sub, "spawnedBy": main}), "self_visibility_restricted"),
        (main, "all", json!({"key": sub, "parentSessionKey": main}), "sandbox_visibility_restricted"),
        (main, "all", json!({"key": sub, "ownerSessionKey": main}), "sandbox_visibility_restricted"),
        (main, "all", json!({"key": "agent:main:telegram:direct:1"}), "sandbox_visibility_restricted"),
        (main, "all", json!({"key": "global"}), "sandbox_visibility_restricted"),
        (main, "all", json!({"key": "agent:ops:subagent:2", "spawnedBy": main}), "allow"),
        (main, "all", json!({"key": "agent:ops:main", "spawnedBy": main}), "cross_agent_visibility_restricted"),
        (main, "all", json!({"key": "agent:main:subagent:incognito-1", "spawnedBy": main}), "incognito_session"),
        // A subagent is clamped to its tree, but may know all of it.
        (sub, "all", json!({"key": "agent:main:subagent:2", "ownerSessionKey": sub}), "allow"),
        (sub, "all", json!({"key": main}), "tree_visibility_restricted"),
        (sub, "self", json!({"key": "agent:main:subagent:2", "spawnedBy": sub}), "self_visibility_restricted"),
    ] {
        let policy = policy(&json!({"visibility": visibility, "sandboxed": true, "agentToAgent": {"enabled": true}}));
        assert_eq!(answer(Caller::new(caller, &policy).decide(&session(&row))), expected, "{caller} {visibility} {row}");
    }
}

#[test]
fn sandbox_never_widens_a_view() {
    for row in vectors("row") {
        let mut given = row_policy(&row, &switched_on(&row["a2a"]));
        for session_tools in ["spawned", "all"] {
            given["sandboxed"] = json!(true);
            given["sessionToolsVisibility"] = json!(session_tools);
            let policy = policy(&given);
            let caller = Caller::new(row["caller"].as_str().unwrap(), &policy);
            if caller.sees(&session(&row["target"])) {
                assert_eq!(row["sep"], "allow", "{row}");
            }
        }
    }
}

#[test]
fn main_session_is_the_one_of_the_callers_agent_unless_the_policy_names_another() {
    for (caller, given, expected) in [
        ("agent:main:main", json!({}), Tree::Agent),
        ("agent:ops:main", json!({}), Tree::Agent),
        ("agent:ops:main", json!({"agentId": "main"}), Tree::Agent),
        ("agent:ops:main", json!({"mainSessionKey": "agent:ops:work"}), Tree::Children),
        ("agent:ops:work", json!({"mainSessionKey": " agent:ops:work "}), Tree::Agent),
        ("global", json!({"agentId": "main"}), Tree::Children),
        ("global", json!({"agentId": "main", "mainSessionKey": "global"}), Tree::Agent),
        ("main", json!({"agentId": "main"}), Tree::Children),
        ("agent:main:main:thread:1", json!({}), Tree::Children),
        ("agent:main:main", json!({"sandboxed": true}), Tree::Spawned),
        ("agent:main:main", json!({"sandboxed": true, "sessionToolsVisibility": "all"}), Tree::Agent),
        ("agent:main:subagent:1", json!({"sandboxed": true}), Tree::Children),
    ] {
        assert_eq!(Caller::new(caller, &policy(&given)).tree, expected, "{caller} {given}");
    }
}

#[test]
fn white_space_around_the_caller_does_not_hide_its_own_session() {
    let policy = Policy::default();
    let own = Session { session_key: "agent:main:direct:1", ..Session::default() };
    assert!(Caller::new(" agent:main:direct:1\n", &policy).sees(&own));
}

#[test]
fn incognito_is_told_by_the_key_alone() {
    for (key, expected) in [
        ("agent:main:dashboard:incognito-1", true),
        ("agent:main:subagent:incognito-9", true),
        ("agent:main:internal-session-effects:incognito-x", true),
        ("agent:main:dashboard:incognito-1:thread:2", true),
        ("Agent:Main:Dashboard:Incognito-1", true),
        (" agent:main:dashboard:incognito-1 ", true),
        ("dashboard:incognito-1", true),
        ("agent:main:dashboard:incognito-", true),
        ("agent:main:dashboard:incognito", false),
        ("agent:main:dashboard:1", false),
        ("agent:main:telegram:direct:incognito-1", false),
        ("agent:incognito-1:main", false),
        ("global", false),
        ("", false),
    ] {
        assert_eq!(is_incognito(key), expected, "{key}");
    }
}

#[test]
fn patterns_name_agents_as_the_host_reads_them() {
    for (pattern, agent, expected) in [
        ("", "main", false),
        ("  ", "main", false),
        ("*", "main", true),
        ("**", "main", true),
        (" main ", "main", true),
        ("main", "MAIN", true),
        ("Main", "main", false),
        ("Main*", "main", true),
        ("m*n", "main", true),
        ("M*N", "main", true),
        ("m*m", "m", false),
        ("ma*ain", "main", false),
        ("*ai*", "main", true),
        ("*a*i*n", "main", true),
        ("*i*a*", "main", false),
        ("m*ai*i*n", "main", false),
        ("main*", "main", true),
        ("*main", "mainmain", true),
        ("m.in", "main", false),
        ("m[a]*", "main", false),
        ("é*", "énorme", true),
    ] {
        let policy = policy(&json!({"agentToAgent": {"allow": [pattern]}}));
        assert_eq!(policy.agent_to_agent.names(agent), expected, "{pattern} {agent}");
    }
}

#[test]
fn many_stars_do_not_explode() {
    let pattern = "*a".repeat(200) + "b";
    assert!(!policy(&json!({"agentToAgent": {"allow": [pattern]}})).agent_to_agent.names(&"a".repeat(20_000)));
}

#[test]
fn list_of_blank_patterns_names_nobody_and_an_empty_list_everybody() {
    for (allow, expected) in [(json!([]), true), (json!([""]), false), (json!(["", "  "]), false), (json!(["", "ops"]), true)] {
        let policy = policy(&json!({"agentToAgent": {"enabled": true, "allow": allow}}));
        assert_eq!(policy.agent_to_agent.names("ops"), expected, "{allow}");
    }
}

#[test]
fn words_of_a_policy_are_trimmed_and_may_be_capitals() {
    let given = json!({"visibility": " ALL ", "sessionToolsVisibility": "All"});
    assert_eq!(policy(&given), policy(&json!({"visibility": "all", "sessionToolsVisibility": "all"})));
    assert_eq!(policy(&json!({})), Policy::default());
}

#[test]
fn whatever_a_policy_cannot_mean_is_refused_by_name() {
    let a_list = "option policy.agentToAgent.allow must be an array of strings";
    let long = "x".repeat(100);
    for (given, expected) in [
        (json!(null), "option policy must be an object, got null"),
        (json!("all"), r#"option policy must be an object, got "all""#),
        (json!({"visibility": "bogus"}), r#"option policy.visibility must be one of "self", "tree", "agent", "all", got "bogus""#),
        (json!({"visibility": 5}), r#"option policy.visibility must be one of "self", "tree", "agent", "all", got 5"#),
        (json!({"visibility": null}), r#"option policy.visibility must be one of "self", "tree", "agent", "all", got null"#),
        (json!({"sandboxed": "yes"}), r#"option policy.sandboxed must be true or false, got "yes""#),
        (
            json!({"sessionToolsVisibility": "bogus"}),
            r#"option policy.sessionToolsVisibility must be one of "spawned", "all", got "bogus""#,
        ),
        (json!({"agentToAgent": true}), "option policy.agentToAgent must be an object, got true"),
        (json!({"agentToAgent": {"enabled": "true"}}), r#"option policy.agentToAgent.enabled must be true or false, got "true""#),
        (json!({"agentToAgent": {"allow": "main"}}), &format!(r#"{a_list}, got "main""#)),
        (json!({"agentToAgent": {"allow": ["main", 1]}}), &format!(r#"{a_list}, got ["main",1]"#)),
        (
            json!({"agentToAgent": {"deny": []}}),
            r#"option policy.agentToAgent must be an object with no other keys than enabled, allow, got key "deny""#,
        ),
        (json!({"agentId": " "}), r#"option policy.agentId must be a string that is not blank, got " ""#),
        (json!({"mainSessionKey": 1}), "option policy.mainSessionKey must be a string that is not blank, got 1"),
        (
            json!({"Visibility": "all"}),
            "option policy must be an object with no other keys than visibility, sandboxed, sessionToolsVisibility, agentToAgent, agentId, \
             mainSessionKey, got key \"Visibility\"",
        ),
        (
            json!({"visibility": long}),
            &format!("option policy.visibility must be one of \"self\", \"tree\", \"agent\", \"all\", got \"{}…", &long[..59]),
        ),
    ] {
        assert_eq!(refusal(&given), expected);
    }
}

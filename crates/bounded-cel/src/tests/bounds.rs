//! Expressions that try to exhaust time, memory or the stack.

use std::io::Write as _;
use std::time::{Duration, Instant};

use super::*;

/// Far more time than any of these takes, also on a busy machine and without optimisation.
const SOON: Duration = Duration::from_secs(5);

#[track_caller]
fn is_too_costly(text: &str, object: &Value) {
    let start = Instant::now();
    assert_eq!(evaluate(text, object), Err(EvaluationError::TooCostly), "{text}");
    assert!(start.elapsed() < SOON, "{text}: {:?}", start.elapsed());
}

/// A list of this many numbers.
fn many(count: usize) -> Value {
    json!({"list": vec![1; count], "text": "x".repeat(100_000)})
}

#[test]
fn what_grows_exponentially_is_cut_off() {
    let copies = |count: usize, sign: &str| vec!["x"; count].join(sign);
    is_too_costly(&format!("size([1]{}) == 1", format!(".map(x, [{}])", copies(30, ", ")).repeat(4)), &json!({}));
    let sums = format!(".map(x, {})", copies(6, " + ")).repeat(3);
    is_too_costly(&format!("size([list]{sums}) == 1"), &many(1000));
    is_too_costly(&format!("size([text]{sums}) == 1"), &many(1));
}

#[test]
fn loops_in_loops_are_cut_off_before_they_begin() {
    let object = many(1000);
    is_too_costly("list.all(a, list.all(b, list.all(c, a == b)))", &object);
    // The evaluation ends although `||` and `exists` absorb errors.
    is_too_costly("list.exists(a, list.exists(b, list.exists(c, c.x)) || a.x) || true", &object);
    is_too_costly(
        "true || list.all(a, list.all(b, list.all(c, a == b))) ? list.all(a, list.all(b, a == b)) : true",
        &object,
    );
    is_too_costly("list.map(a, list.map(b, list)) == list", &object);
}

#[test]
fn large_values_cost_what_it_takes_to_read_them() {
    let object = many(1000);
    is_too_costly("list.all(a, text != text + 'x')", &object);
    is_too_costly("list.all(a, !text.contains('y'))", &object);
    is_too_costly("list.all(a, list == list)", &object);
    is_too_costly("list.all(a, !(2 in list))", &object);
    is_too_costly("size(list.map(a, text)) == 1", &object);
    is_too_costly("list.all(a, [list, list, list] != [])", &object);
    is_too_costly("list.all(a, {'a': list} != {})", &object);
    is_too_costly("list.all(a, optional.of(list).hasValue())", &object);
}

#[test]
fn what_people_write_costs_little() {
    let condition = json!({"type": "Ready", "status": "True", "reason": "AllIsWell", "message": "m".repeat(200)});
    let object = json!({"status": {"conditions": vec![condition.clone(); 200], "items": vec![json!({"c": vec![condition; 10]}); 100]}});
    for text in [
        "status.conditions.filter(c, c.type == 'Ready').all(c, c.status == 'True')",
        "status.conditions.exists(c, c.type == 'Ready') && status.conditions.all(c, c.status == 'True')",
        "status.items.all(i, i.c.exists(c, c.type == 'Ready' && c.status == 'True'))",
    ] {
        assert_eq!(evaluate(text, &object), Ok(true), "{text}");
    }
}

#[test]
fn the_largest_expressions_need_little_stack() {
    let nested = |open: &str, close: &str, depth: usize| format!("{}a{}", open.repeat(depth), close.repeat(depth));
    let shapes = [
        ("[", "]"),
        ("a.all(x, ", ")"),
        ("a.map(x, ", ")"),
        ("", ".map(x, x)"),
        ("(a[0] == 1 ? ", " : a)"),
        ("!(", ")"),
        ("string(", ")"),
    ];
    let allowed = shapes.into_iter().flat_map(|(open, close)| (1..30).map(move |depth| nested(open, close, depth)));
    let allowed: Vec<String> = allowed.collect();
    let chain = |sign: &str, count: usize| vec!["a"; count].join(sign);
    let texts = [
        nested("(", ")", 40),
        nested("[", "]", 40),
        nested("a[", "]", 40),
        nested("{1: ", "}", 40),
        nested("!(", ")", 40),
        nested("a.all(x, ", ")", 40),
        nested("a ? ", " : a", 100),
        nested("", " ? a : a", 100),
        chain(".", 150),
        chain(".?", 100),
        chain(" + ", 150),
        chain(" == ", 150),
        chain(" && ", 100),
        chain(" || ", 100),
        chain(" ? ", 150),
        chain(" < ", 150),
        chain(", ", 150),
        "!".repeat(299) + "a",
        "-".repeat(299) + "a",
        "((((((((((((((((((((((((((((((((((((((((".to_owned(),
        "a[".repeat(40),
        "'".repeat(299),
        "\"".repeat(299),
        "a.".repeat(149),
    ];
    let work = move || {
        for text in texts.into_iter().chain(allowed) {
            let start = Instant::now();
            if let Ok(condition) = Condition::parse(&text) {
                let _ = condition.holds(&json!({"a": [1]}));
            }
            assert!(start.elapsed() < SOON, "{text}: {:?}", start.elapsed());
        }
    };
    // The stack size of the threads of an asynchronous runtime.
    let thread = std::thread::Builder::new().stack_size(2 << 20).spawn(work);
    thread.unwrap().join().unwrap();
}

#[test]
fn a_panic_of_the_library_is_an_error() {
    assert!(guarded(|| -> bool { panic!("a value") }).is_err());
    assert_eq!(guarded(|| 1).ok(), Some(1));
}

/// Run in a process of its own by the test below.
#[test]
#[ignore = "it sets the panic hook"]
fn panics_in_a_program_that_asks() {
    std::panic::set_hook(Box::new(|panic| {
        writeln!(std::io::stderr(), "guarded: {}, {panic}", is_guarded()).unwrap();
    }));
    assert!(guarded(|| guarded(|| panic!("inner")).is_err() && panic!("outer")).is_err());
    assert!(std::panic::catch_unwind(|| panic!("not ours")).is_err());
    assert_eq!(
        Condition::parse("a.b").unwrap().holds(&json!({"a": {}})),
        Err(EvaluationError::Missing(Some("b".to_owned())))
    );
    assert!(!is_guarded());
}

#[test]
fn a_panic_hook_knows_which_panics_are_caught() {
    let mut command = std::process::Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "tests::bounds::panics_in_a_program_that_asks", "--ignored", "--nocapture"]);
    let output = command.output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}");
    let lines = stderr.lines().filter_map(|line| line.strip_prefix("guarded: "));
    let hidden: Vec<&str> = lines.filter_map(|line| line.split(',').next()).collect();
    assert_eq!(hidden, ["true", "true", "false"], "{stderr}");
}

#[test]
fn an_expression_has_bounds() {
    for (text, message) in [
        (format!("'{}' == a", "x".repeat(2000)), "the expression is longer than 2000 bytes"),
        ("(".repeat(41), "the expression has more than 40 brackets"),
        (vec!["a"; 151].join("."), "the expression has more than 300 names, numbers and signs"),
        (vec!["a"; 155].join("?"), "the expression has more than 300 names, numbers and signs"),
    ] {
        assert_eq!(refused(&text).message, message);
    }
}

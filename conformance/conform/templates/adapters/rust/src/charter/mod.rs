//! The adapter's side of the adapter protocol: reads the judge's questions from stdin, calls the
//! adapter that you write, and answers on stdout with what was observed.
//!
//! mod.rs and values.rs are the same for every charter; protocol.rs has the types of yours, and is
//! written anew by `conform generate --adapter rust`.

#![allow(dead_code, unused_imports)]

mod protocol;
mod values;

use std::any::Any;
use std::collections::{BTreeMap, HashMap};
use std::io::{self, BufRead, Write};
use std::panic::{catch_unwind, AssertUnwindSafe};

use serde::{Deserialize, Serialize};
use serde_json::{json, Map, Value};

pub use protocol::*;
pub use values::*;

const VERSION: u64 = 1;

/// What hello says about the adapter. `new` fills in everything that the charter has.
pub struct About {
    pub name: String,
    pub version: String,
    /// `load` if `start` can load a given state, `image` if there is a method `image`.
    pub capabilities: Vec<String>,
    pub operations: Vec<String>,
    pub observes: Vec<String>,
    /// The constants that `start` configures the implementation with.
    pub consts: Vec<String>,
}

impl About {
    pub fn new(name: &str, version: &str) -> Self {
        About {
            name: name.to_string(),
            version: version.to_string(),
            capabilities: Vec::new(),
            operations: strings(OPERATIONS),
            observes: strings(OBSERVES),
            consts: strings(CONSTS),
        }
    }
}

fn strings(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| name.to_string()).collect()
}

/// What the judge says first.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Hello {
    pub release: String,
    pub variant: String,
    /// The table `[errors]` of adapter.toml.
    pub errors: BTreeMap<String, String>,
    pub consts: BTreeMap<String, String>,
}

/// Why an operation has no reply.
#[derive(Debug)]
pub enum Error {
    /// The implementation failed in a way that the charter does not name. It ends the question.
    Fault { name: String, message: String },
    /// The adapter cannot do it: the operation or capability.
    Unsupported(String),
    /// The given state did not come back.
    NotLoadable(String),
    /// A reference leads to no value in the observations.
    Unresolved(String),
    /// The adapter itself failed.
    Failed(String),
}

impl<E: std::error::Error> From<E> for Error {
    fn from(error: E) -> Self {
        Error::Failed(error.to_string())
    }
}

/// What `call` returns. If it panics, that is a fault of the implementation, with the text of the
/// panic: `let granted = fault_if_panics(|| self.service.acquire(lock))?;`
pub fn fault_if_panics<T>(call: impl FnOnce() -> T) -> Result<T, Error> {
    catch_unwind(AssertUnwindSafe(call)).map_err(|panic| Error::Fault {
        name: "panic".to_string(),
        message: text_of(panic.as_ref()),
    })
}

fn text_of(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| text.to_string());
    text.or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_default()
}

/// The adapter as the loop sees it: protocol.rs implements it.
trait Component {
    fn hello(&mut self, hello: Hello) -> Result<(), Error>;
    fn start(&mut self, question: Value) -> Result<(), Error>;
    fn perform(&mut self, operation: &str, args: Value) -> Result<Value, Error>;
    fn observe(&mut self) -> Result<Value, Error>;
    fn image(&mut self) -> Result<Value, Error>;
}

/// Answers the judge until it says bye or stdin ends.
pub fn serve(about: About, adapter: impl Adapter) -> Result<(), Error> {
    let mut only = Some(adapter);
    serve_sessions(about, move || only.take().expect("one session"), 1)
}

/// As `serve`, with so many sessions at once, each on an adapter that `make` returns: only for
/// adapters that share nothing, such as a server.
pub fn serve_sessions<A: Adapter>(
    about: About,
    mut make: impl FnMut() -> A,
    sessions: usize,
) -> Result<(), Error> {
    let mut server = Server {
        about,
        idle: vec![Protocol(make())],
        make: || Protocol(make()),
        sessions,
        greeting: Hello::default(),
        open: HashMap::new(),
    };
    for line in io::stdin().lock().lines() {
        let message: Value = serde_json::from_str(&line?)?;
        if message.get("bye").is_some() {
            break;
        }
        let answer = server.answer(message)?;
        let mut out = io::stdout().lock();
        writeln!(out, "{answer}")?;
        out.flush()?;
    }
    Ok(())
}

/// Questions, or what happens in sessions.
#[derive(Deserialize)]
struct Batch {
    run: u64,
    questions: Option<Vec<Asked>>,
    #[serde(default)]
    end: Vec<String>,
    #[serde(default)]
    begin: Vec<Asked>,
    #[serde(default)]
    steps: Vec<Step>,
}

/// A question, or the beginning of a session.
#[derive(Deserialize)]
struct Asked {
    id: String,
    nonce: String,
    #[serde(default)]
    operations: Vec<Call>,
    delta: Value,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

#[derive(Deserialize)]
struct Call {
    operation: String,
    args: Value,
}

/// An operation of a session.
#[derive(Deserialize)]
struct Step {
    id: String,
    nonce: String,
    #[serde(flatten)]
    call: Call,
}

/// `[reply, observation, image]`: indices into the values of a batch, -1 for none.
type Shown = [i64; 3];

/// Components are `idle`, or each has a session in `open`.
struct Server<C, M> {
    about: About,
    make: M,
    idle: Vec<C>,
    sessions: usize,
    greeting: Hello,
    open: HashMap<String, Execution<C>>,
}

impl<C: Component, M: FnMut() -> C> Server<C, M> {
    fn answer(&mut self, message: Value) -> Result<Value, Error> {
        match message.get("hello") {
            None => self.run(serde_json::from_value(message)?),
            Some(version) if *version != VERSION => Ok(json!({ "hello": VERSION })),
            Some(_) => self.welcome(serde_json::from_value(message)?),
        }
    }

    fn welcome(&mut self, hello: Hello) -> Result<Value, Error> {
        let about = &self.about;
        let asked = |name: &&String| hello.consts.contains_key(*name);
        let consts: Vec<_> = about.consts.iter().filter(asked).collect();
        let answer = json!({
            "hello": VERSION,
            "name": about.name,
            "version": about.version,
            "component": COMPONENT,
            "capabilities": about.capabilities,
            "operations": about.operations,
            "observes": about.observes,
            "consts": consts,
            "sessions": self.sessions,
        });
        self.greeting = hello.clone();
        self.idle[0].hello(hello)?;
        Ok(answer)
    }

    fn run(&mut self, batch: Batch) -> Result<Value, Error> {
        let mut shared = Shared::default();
        let mut results = Vec::new();
        if batch.questions.is_some() {
            self.end(self.open.keys().cloned().collect());
        }
        for mut question in batch.questions.unwrap_or_default() {
            let operations = std::mem::take(&mut question.operations);
            let component = self.idle.swap_remove(0);
            let mut execution = Execution::new(component, question);
            results.push(execution.answer(&self.about, &mut shared, &operations));
            self.idle.push(execution.component);
        }
        self.end(batch.end);
        for question in batch.begin {
            let answer = self.begin(question, &mut shared)?;
            results.push(answer);
        }
        for step in batch.steps {
            results.push(self.step(step, &mut shared));
        }
        Ok(json!({ "run": batch.run, "values": shared.values, "results": results }))
    }

    /// Opens a session; the result has its first state.
    fn begin(&mut self, question: Asked, shared: &mut Shared) -> Result<Value, Error> {
        let id = question.id.clone();
        self.end(vec![id.clone()]);
        if self.open.len() >= self.sessions {
            let detail = format!("{} sessions are open", self.sessions);
            return Ok(failed(&id, &question.nonce, detail));
        }
        let component = match self.idle.pop() {
            Some(component) => component,
            None => {
                let mut made = (self.make)();
                made.hello(self.greeting.clone())?;
                made
            }
        };
        let mut execution = Execution::new(component, question);
        let result = execution.answer(&self.about, shared, &[]);
        self.keep(id, execution);
        Ok(result)
    }

    /// Performs one operation of a session.
    fn step(&mut self, step: Step, shared: &mut Shared) -> Value {
        match self.open.remove(&step.id) {
            None => {
                let detail = format!("no session {} is open", step.id);
                failed(&step.id, &step.nonce, detail)
            }
            Some(mut execution) => {
                let result = execution.answer(&self.about, shared, &[step.call]);
                self.keep(step.id, execution);
                result
            }
        }
    }

    /// Keeps a session open, unless it is over.
    fn keep(&mut self, id: String, execution: Execution<C>) {
        if execution.over {
            self.idle.push(execution.component);
        } else {
            self.open.insert(id, execution);
        }
    }

    /// Ends those of these sessions that are open.
    fn end(&mut self, ids: Vec<String>) {
        for id in ids {
            if let Some(execution) = self.open.remove(&id) {
                self.idle.push(execution.component);
            }
        }
    }
}

fn failed(id: &str, nonce: &str, detail: String) -> Value {
    json!({ "id": id, "nonce": nonce, "status": "error", "detail": detail, "steps": [] })
}

/// A question or a session, and what was shown so far. It is over after a fault and an error.
struct Execution<C> {
    component: C,
    asked: Asked,
    begun: bool,
    over: bool,
    history: History,
}

impl<C: Component> Execution<C> {
    fn new(component: C, asked: Asked) -> Self {
        Execution {
            component,
            asked,
            begun: false,
            over: false,
            history: History::default(),
        }
    }

    /// Begins if it has not begun, and performs operations. Whatever goes wrong affects no other.
    fn answer(&mut self, about: &About, shared: &mut Shared, calls: &[Call]) -> Value {
        let mut steps = Vec::new();
        let performing = AssertUnwindSafe(|| self.perform_all(about, shared, calls, &mut steps));
        let failure = catch_unwind(performing).unwrap_or_else(|panic| {
            let detail = format!("panic: {}", text_of(panic.as_ref()));
            Err(Error::Failed(detail))
        });
        let (status, detail) = match failure {
            Ok(()) => ("ok", String::new()),
            Err(Error::Unresolved(detail)) => ("unresolved", detail),
            Err(Error::Unsupported(detail)) => ("unsupported", detail),
            Err(Error::NotLoadable(detail)) => ("not_loadable", detail),
            Err(Error::Failed(detail)) => ("error", detail),
            Err(Error::Fault { name, message }) => ("error", format!("{name}: {message}")),
        };
        self.over |= status != "ok";
        if !matches!(status, "ok" | "unresolved") {
            steps.clear();
        }
        json!({
            "id": self.asked.id,
            "nonce": self.asked.nonce,
            "status": status,
            "detail": detail,
            "steps": steps,
        })
    }

    fn perform_all(
        &mut self,
        about: &About,
        shared: &mut Shared,
        calls: &[Call],
        steps: &mut Vec<Shown>,
    ) -> Result<(), Error> {
        if !self.begun {
            self.begun = true;
            let mut question = std::mem::take(&mut self.asked.rest);
            question.insert("id".to_string(), json!(self.asked.id));
            self.component.start(Value::Object(question))?;
            self.history.replies.push(Value::Null);
            steps.push(self.observe(-1, about, shared)?);
        }
        for call in calls {
            let args = resolve(&call.args, &self.history)?;
            match self.component.perform(&call.operation, args) {
                Ok(reply) => {
                    self.history.replies.push(reply.clone());
                    let reply = shared.add(reply);
                    steps.push(self.observe(reply, about, shared)?);
                }
                Err(Error::Fault { name, message }) => {
                    let fault = shared.add(json!({ "fault": name, "message": message }));
                    steps.push([fault, -1, -1]);
                    self.over = true;
                    break;
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// The step of a reply.
    fn observe(&mut self, reply: i64, about: &About, shared: &mut Shared) -> Result<Shown, Error> {
        let observation = self.component.observe()?;
        let observation = shown(about, observation);
        let step = json!(self.history.observations.len());
        let delta = &self.asked.delta;
        let named = |listed: &Vec<Value>| listed.contains(&step);
        let wanted = delta == "each" || delta.as_array().is_some_and(named);
        let mut image = -1;
        if wanted && about.capabilities.iter().any(|name| name == "image") {
            let second = self.component.image()?;
            image = shared.add(shown(about, second));
        }
        self.history.observations.push(observation.clone());
        Ok([reply, shared.add(observation), image])
    }
}

/// The variables that hello named.
fn shown(about: &About, mut observation: Value) -> Value {
    if let Value::Object(variables) = &mut observation {
        variables.retain(|name, _| about.observes.contains(name));
    }
    observation
}

/// The values of a batch, each once.
#[derive(Default)]
struct Shared {
    values: Vec<Value>,
    indices: HashMap<String, i64>,
}

impl Shared {
    fn add(&mut self, value: Value) -> i64 {
        let next = self.values.len() as i64;
        let index = *self.indices.entry(value.to_string()).or_insert(next);
        if index == next {
            self.values.push(value);
        }
        index
    }
}

/// What was shown, by step; step 0 has no reply.
#[derive(Default)]
struct History {
    observations: Vec<Value>,
    replies: Vec<Value>,
}

/// `value` with each reference replaced by what stands there.
fn resolve(value: &Value, history: &History) -> Result<Value, Error> {
    match value {
        Value::Object(fields) => {
            let known = |name: &String| ["ref", "plus", "in"].contains(&name.as_str());
            // A record of the charter may have a field `ref` beside others.
            let path = fields.get("ref").filter(|_| fields.keys().all(known));
            if let Some(Value::Array(path)) = path {
                let in_reply = fields.get("in").is_some_and(|place| place == "reply");
                let shown = if in_reply {
                    &history.replies
                } else {
                    &history.observations
                };
                return look_up(path, fields.get("plus"), shown);
            }
            let resolved: Result<Map<_, _>, Error> = fields
                .iter()
                .map(|(name, part)| Ok((name.clone(), resolve(part, history)?)))
                .collect();
            Ok(Value::Object(resolved?))
        }
        Value::Array(items) => items.iter().map(|item| resolve(item, history)).collect(),
        other => Ok(other.clone()),
    }
}

/// What stands at a path: the number of a step, then keys and positions.
fn look_up(path: &[Value], plus: Option<&Value>, steps: &[Value]) -> Result<Value, Error> {
    let shown = || Value::Array(path.to_vec()).to_string();
    let mut parts = path.iter();
    let step = parts.next().and_then(Value::as_u64);
    let start = step.and_then(|step| steps.get(step as usize));
    let found = parts.fold(start, |value, part| match part {
        Value::String(key) => value?.get(key),
        position => value?.get(position.as_u64()? as usize),
    });
    let value = match found {
        None | Some(Value::Null) => {
            return Err(Error::Unresolved(format!("nothing stands at {}", shown())))
        }
        Some(value) => value,
    };
    let Some(plus) = plus.and_then(Value::as_i64) else {
        return Ok(value.clone());
    };
    match value.as_i64() {
        Some(number) => Ok(json!(number + plus)),
        None => Err(Error::Unresolved(format!("{} is no number", shown()))),
    }
}

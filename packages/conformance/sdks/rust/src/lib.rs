//! Reads a task per line, has it carried out, and prints its answer as a line.

use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::io::{BufRead, Write};
use std::time::Duration;

/// Calls `prepare` once per task, and the function that it returns once or twice.
pub async fn serve<Client>(
    prepare: impl Fn(&Value) -> Client,
    call: impl AsyncFn(&Client, &Value) -> Map<String, Value>,
) {
    for line in std::io::stdin().lock().lines() {
        let task: Value = serde_json::from_str(&line.expect("a line")).expect("a task");
        let client = prepare(&task);
        let mut answer = call(&client, &task).await;
        if let Some(ms) = task["secondCallAfterMs"].as_u64() {
            tokio::time::sleep(Duration::from_millis(ms)).await;
            answer = call(&client, &task).await;
        }
        answer.insert("task".into(), task["task"].clone());
        println!("{}", Value::Object(answer));
        std::io::stdout().flush().expect("an open output");
    }
}

/// Pauses as the task says, after a chunk. True: leave the stream.
pub async fn pause(task: &Value) -> bool {
    if let Some(ms) = task["pauseAfterFirstChunkMs"].as_u64() {
        tokio::time::sleep(Duration::from_millis(ms)).await;
    }
    task["abortAfterFirstChunk"] == true
}

pub fn timeout(task: &Value) -> Duration {
    Duration::from_millis(task["timeoutMs"].as_u64().expect("timeoutMs"))
}

pub fn text<'a>(task: &'a Value, name: &str) -> &'a str {
    task[name].as_str().expect("a text")
}

/// Returns the message of an error with those of its causes.
pub fn describe(error: &dyn std::error::Error) -> String {
    let mut message = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        message = format!("{message}: {inner}");
        cause = inner.source();
    }
    message
}

/// The pieces of an answer, as the caller of a stream sees them.
#[derive(Default)]
pub struct Collected {
    texts: BTreeMap<u64, String>,
    calls: BTreeMap<u64, (String, String, String)>,
    pub answer: Map<String, Value>,
}

impl Collected {
    /// Adds the choices of an answer or of a chunk in the form of OpenAI's API.
    pub fn add(&mut self, part: &Value) {
        for choice in part["choices"].as_array().into_iter().flatten() {
            let index = choice["index"].as_u64().unwrap_or(0);
            let message = if choice["delta"].is_null() { &choice["message"] } else { &choice["delta"] };
            self.add_text(index, message["content"].as_str().unwrap_or(""));
            for (at, call) in message["tool_calls"].as_array().into_iter().flatten().enumerate() {
                let function = &call["function"];
                self.add_call(
                    call["index"].as_u64().unwrap_or(at as u64),
                    call["id"].as_str().unwrap_or(""),
                    function["name"].as_str().unwrap_or(""),
                    function["arguments"].as_str().unwrap_or(""),
                );
            }
            if index == 0 && choice["finish_reason"].is_string() {
                self.answer.insert("finishReason".into(), choice["finish_reason"].clone());
            }
        }
        if let Some(usage) = part["usage"].as_object() {
            let counts = json!({
                "promptTokens": usage["prompt_tokens"],
                "completionTokens": usage["completion_tokens"],
            });
            self.answer.insert("usage".into(), counts);
        }
    }

    pub fn add_text(&mut self, index: u64, text: &str) {
        self.texts.entry(index).or_default().push_str(text);
    }

    pub fn add_call(&mut self, index: u64, id: &str, name: &str, arguments: &str) {
        let begun = || (id.to_string(), name.to_string(), String::new());
        self.calls.entry(index).or_insert_with(begun).2.push_str(arguments);
    }

    pub fn finish(mut self) -> Map<String, Value> {
        let calls: Vec<Value> = self
            .calls
            .into_values()
            .map(|(id, name, arguments)| json!({ "id": id, "name": name, "arguments": arguments }))
            .collect();
        self.answer.insert("text".into(), json!(self.texts.get(&0)));
        self.answer.insert("texts".into(), json!(self.texts.into_values().collect::<Vec<_>>()));
        self.answer.insert("toolCalls".into(), json!(calls));
        self.answer
    }
}

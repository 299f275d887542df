use futures::StreamExt;
use genai::adapter::AdapterKind;
use genai::chat::{ChatMessage, ChatOptions, ChatRequest, ChatStreamEvent, Tool, ToolCall};
use genai::resolver::{AuthData, Endpoint};
use genai::{Client, Error, ModelIden, ServiceTarget, WebConfig};
use sdks::{Collected, describe, pause, serve, text, timeout};
use serde_json::{Map, Value, json};

fn prepare(task: &Value) -> Client {
    let (base, key) = (text(task, "baseUrl").to_string(), text(task, "apiKey").to_string());
    let resolve = move |target: ServiceTarget| -> Result<ServiceTarget, genai::resolver::Error> {
        let base = if base.ends_with('/') { base.clone() } else { format!("{base}/") };
        Ok(ServiceTarget {
            endpoint: Endpoint::from_owned(base),
            auth: AuthData::from_single(key.clone()),
            model: ModelIden::new(AdapterKind::OpenAI, target.model.model_name),
        })
    };
    Client::builder()
        .with_web_config(WebConfig::default().with_timeout(timeout(task)))
        .with_service_target_resolver_fn(resolve)
        .build()
        .expect("a client")
}

fn to_request(task: &Value) -> ChatRequest {
    let messages = task["messages"].as_array().into_iter().flatten().map(|message| {
        let content = text(message, "content");
        match text(message, "role") {
            "system" => ChatMessage::system(content),
            "assistant" => ChatMessage::assistant(content),
            _ => ChatMessage::user(content),
        }
    });
    let tools: Vec<Tool> = task["tools"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|tool| {
            let function = &tool["function"];
            Tool::new(text(function, "name"))
                .with_description(text(function, "description"))
                .with_schema(function["parameters"].clone())
        })
        .collect();
    let request = ChatRequest::new(messages.collect());
    if tools.is_empty() { request } else { request.with_tools(tools) }
}

fn to_error(error: &Error) -> Value {
    // The error of a refused stream has that of the request inside.
    if let Error::WebStream { error: inner, .. } = error
        && let Some(inner) = inner.downcast_ref::<Error>()
    {
        return to_error(inner);
    }
    let class = format!("{error:?}");
    let class = class.split(['(', '{', ' ']).next().unwrap_or("Error");
    let mut described = json!({ "class": class, "message": describe(error) });
    let (status, headers) = match error {
        Error::HttpError { status, headers, .. } => (Some(*status), Some(headers)),
        Error::WebModelCall { webc_error, .. } | Error::WebAdapterCall { webc_error, .. } => match webc_error {
            genai::webc::Error::ResponseFailedStatus { status, headers, .. } => (Some(*status), Some(headers)),
            other => (other.status(), None),
        },
        _ => (None, None),
    };
    described["status"] = json!(status.map(|status| status.as_u16()));
    let id = headers.and_then(|headers| headers.get("x-request-id")).and_then(|id| id.to_str().ok());
    described["requestId"] = json!(id);
    described
}

fn add_calls(collected: &mut Collected, calls: &[&ToolCall]) {
    for (index, call) in calls.iter().enumerate() {
        let arguments = match &call.fn_arguments {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        collected.add_call(index as u64, &call.call_id, &call.fn_name, &arguments);
    }
}

async fn carry_out(client: &Client, task: &Value, collected: &mut Collected) -> Result<(), Error> {
    let options = ChatOptions::default()
        .with_capture_usage(true)
        .with_capture_tool_calls(true)
        .with_capture_raw_body(true)
        .with_stream_read_timeout(timeout(task));
    let (model, request) = (text(task, "model"), to_request(task));
    let model = format!("openai::{model}");
    if task["call"] == "create" {
        let response = client.exec_chat(&model, request, Some(&options)).await?;
        collected.add_text(0, response.first_text().unwrap_or(""));
        add_calls(collected, &response.content.tool_calls());
        let reason = response.stop_reason.as_ref().map(|reason| format!("{reason:?}"));
        collected.answer.insert("finishReason".into(), json!(reason));
        let raw = response.captured_raw_body.unwrap_or_default();
        let unknown = json!({ "x_text": raw["x_text"], "x_number": raw["x_number"] });
        collected.answer.insert("unknownMembers".into(), unknown);
        return Ok(());
    }
    let mut events = client.exec_chat_stream(&model, request, Some(&options)).await?.stream;
    while let Some(event) = events.next().await {
        match event? {
            ChatStreamEvent::Chunk(chunk) => {
                collected.add_text(0, &chunk.content);
                if pause(task).await {
                    collected.answer.insert("aborted".into(), json!(true));
                    break;
                }
            }
            ChatStreamEvent::End(end) => {
                if let Some(usage) = &end.captured_usage {
                    let counts = json!({ "promptTokens": usage.prompt_tokens, "completionTokens": usage.completion_tokens });
                    collected.answer.insert("usage".into(), counts);
                }
                let reason = end.captured_stop_reason.as_ref().map(|reason| format!("{reason:?}"));
                collected.answer.insert("finishReason".into(), json!(reason));
                if let Some(content) = &end.captured_content {
                    add_calls(collected, &content.tool_calls());
                }
            }
            _ => (),
        }
    }
    Ok(())
}

async fn call(client: &Client, task: &Value) -> Map<String, Value> {
    let mut collected = Collected::default();
    if !task["n"].is_null() {
        collected.answer.insert("unsupported".into(), json!("a ChatResponse has one choice"));
        return collected.answer;
    }
    if let Err(error) = carry_out(client, task, &mut collected).await {
        collected.answer.insert("error".into(), to_error(&error));
    }
    collected.finish()
}

#[tokio::main]
async fn main() {
    serve(prepare, call).await;
}

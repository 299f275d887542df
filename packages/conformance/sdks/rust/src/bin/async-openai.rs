use async_openai::Client;
use async_openai::config::OpenAIConfig;
use async_openai::error::OpenAIError;
use async_openai::middleware::{ReqwestService, retry::OpenAIRetryLayer};
use async_openai::types::chat::CreateChatCompletionRequest;
use futures::StreamExt;
use sdks::{Collected, describe, pause, serve, text, timeout};
use serde_json::{Map, Value, json};

fn prepare(task: &Value) -> Client<OpenAIConfig> {
    let config = OpenAIConfig::new()
        .with_api_base(text(task, "baseUrl"))
        .with_api_key(text(task, "apiKey"));
    let http = reqwest::Client::builder().timeout(timeout(task)).build().expect("a client");
    let retries = OpenAIRetryLayer::new(task["maxRetries"].as_u64().unwrap_or(0) as usize);
    let service = tower::ServiceBuilder::new().layer(retries).service(ReqwestService::new(http));
    Client::with_config(config).with_http_service(service)
}

fn to_request(task: &Value) -> CreateChatCompletionRequest {
    let mut request = json!({ "model": task["model"], "messages": task["messages"] });
    for name in ["tools", "n"] {
        if !task[name].is_null() {
            request[name] = task[name].clone();
        }
    }
    if task["includeUsage"] == true {
        request["stream_options"] = json!({ "include_usage": true });
    }
    serde_json::from_value(request).expect("a request")
}

fn to_error(error: &OpenAIError) -> Value {
    let class = format!("{error:?}");
    let class = class.split(['(', '{', ' ']).next().unwrap_or("OpenAIError");
    let mut described = json!({ "class": class, "message": describe(error) });
    match error {
        OpenAIError::ApiError(refusal) => {
            described["status"] = json!(refusal.status_code.as_u16());
            described["code"] = json!(refusal.api_error.code);
            described["param"] = json!(refusal.api_error.param);
        }
        OpenAIError::Reqwest(error) => described["status"] = json!(error.status().map(|status| status.as_u16())),
        _ => (),
    }
    described
}

async fn carry_out(client: &Client<OpenAIConfig>, task: &Value, collected: &mut Collected) -> Result<(), OpenAIError> {
    let request = to_request(task);
    if task["call"] == "create" {
        let completion = client.chat().create(request).await?;
        collected.add(&serde_json::to_value(completion).expect("JSON"));
        return Ok(());
    }
    let mut chunks = client.chat().create_stream(request).await?;
    while let Some(chunk) = chunks.next().await {
        collected.add(&serde_json::to_value(chunk?).expect("JSON"));
        if pause(task).await {
            collected.answer.insert("aborted".into(), json!(true));
            break;
        }
    }
    Ok(())
}

async fn call(client: &Client<OpenAIConfig>, task: &Value) -> Map<String, Value> {
    let mut collected = Collected::default();
    if let Err(error) = carry_out(client, task, &mut collected).await {
        collected.answer.insert("error".into(), to_error(&error));
    }
    collected.finish()
}

#[tokio::main]
async fn main() {
    serve(prepare, call).await;
}

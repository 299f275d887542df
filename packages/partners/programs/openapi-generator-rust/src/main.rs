//! Usage: program models | program answer PROMPT | program error | program stream PROMPT

#![deny(warnings)]

use std::collections::HashMap;
use std::env;
use std::error::Error;

use eventsource_stream::Eventsource;
use futures_util::StreamExt;
use parley::apis::chat_api::create_chat_completion;
use parley::apis::configuration::Configuration;
use parley::apis::models_api::list_models;
use parley::apis::{self, ResponseContent};
use parley::models::{self, response_format_json_schema, tool, user_message};
use serde_json::json;

const MODEL: &str = "vendor/model-1";

type Failure = Box<dyn Error>;

fn connect() -> Result<Configuration, env::VarError> {
    Ok(Configuration {
        base_path: env::var("PARLEY_URL")?,
        bearer_access_token: Some(env::var("PARLEY_KEY")?),
        ..Configuration::default()
    })
}

fn city() -> HashMap<String, serde_json::Value> {
    let properties = json!({ "city": { "type": "string" } });
    HashMap::from([("type".into(), "object".into()), ("properties".into(), properties)])
}

fn new_request(model: &str, prompt: &str) -> models::ChatCompletionRequest {
    let content = models::MessageContent::TextContent(prompt.into());
    let message = models::UserMessage::new(user_message::Role::User, content);
    models::ChatCompletionRequest::new(model.into(), vec![models::ChatMessage::User(Box::new(message))])
}

async fn print_models() -> Result<(), Failure> {
    for model in list_models(&connect()?, None).await?.data {
        println!("{}", model.id);
    }
    Ok(())
}

async fn answer(prompt: &str) -> Result<(), Failure> {
    let mut function = models::FunctionDefinition::new("get_weather".into());
    function.parameters = Some(Some(city()));
    let format = models::ResponseFormatJsonSchema::new(
        response_format_json_schema::Type::JsonSchema,
        models::JsonSchemaFormat::new("city".into(), city()),
    );
    let mut request = new_request(MODEL, prompt);
    request.tools = Some(Some(vec![models::Tool::new(tool::Type::Function, function)]));
    request.response_format = Some(Some(Box::new(models::ResponseFormat::JsonSchema(Box::new(format)))));
    for choice in create_chat_completion(&connect()?, request, None, None).await?.choices {
        println!("{} {}", choice.finish_reason, choice.message.content.unwrap_or_default());
        for call in choice.message.tool_calls.unwrap_or_default() {
            println!("{} {}", call.function.name, call.function.arguments);
        }
    }
    Ok(())
}

async fn refusal() -> Result<(), Failure> {
    let request = new_request("vendor/none", "Hello");
    match create_chat_completion(&connect()?, request, None, None).await {
        Err(apis::Error::ResponseError(ResponseContent { status, content, .. })) => {
            let refused: models::ErrorResponse = serde_json::from_str(&content)?;
            let code = refused.error.code.map(|code| code.to_string()).unwrap_or_default();
            println!("{} {} {code}", status.as_u16(), refused.error.r#type);
            Ok(())
        }
        Err(failure) => Err(failure.into()),
        Ok(_) => Err("the model exists".into()),
    }
}

/// Sends the request itself, since the client reads the whole answer before it returns.
async fn stream(prompt: &str) -> Result<(), Failure> {
    let mut request = new_request(MODEL, prompt);
    request.stream = Some(Some(true));
    let Configuration { base_path, bearer_access_token, client, .. } = connect()?;
    let url = format!("{base_path}/v1/chat/completions");
    let post = client.post(url).bearer_auth(bearer_access_token.unwrap_or_default()).json(&request);
    let mut events = post.send().await?.error_for_status()?.bytes_stream().eventsource();
    while let Some(event) = events.next().await {
        let data = event?.data;
        if data == "[DONE]" {
            return Ok(());
        }
        match serde_json::from_str(&data)? {
            models::StreamEvent::ChatCompletionChunk(chunk) => print_chunk(*chunk),
            models::StreamEvent::StreamError(failure) => {
                let code = failure.error.code.map(|code| code.to_string()).unwrap_or_default();
                return Err(format!("stream error: {code}").into());
            }
        }
    }
    Err("truncated: the stream ended without [DONE]".into())
}

fn print_chunk(chunk: models::ChatCompletionChunk) {
    for choice in chunk.choices {
        if let Some(text) = choice.delta.content.filter(|text| !text.is_empty()) {
            println!("{text}");
        }
        if let Some(reason) = choice.finish_reason {
            println!("{reason}");
        }
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let outcome = match arguments[..] {
        ["models"] => print_models().await,
        ["answer", prompt] => answer(prompt).await,
        ["error"] => refusal().await,
        ["stream", prompt] => stream(prompt).await,
        _ => Err("unknown word".into()),
    };
    if let Err(failure) = outcome {
        println!("{failure}");
        std::process::exit(1);
    }
}

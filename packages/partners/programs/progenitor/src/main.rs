//! Usage: program models | program answer PROMPT | program error | program stream PROMPT

#![deny(warnings)]

use std::env;
use std::error::Error as StdError;

use eventsource_stream::Eventsource;
use futures_util::StreamExt;
use parley_progenitor::types::{
    ChatCompletionChunk, ChatCompletionRequest, ChatMessage, FunctionDefinition, JsonSchemaFormat, MessageContent,
    ResponseFormat, ResponseFormatJsonSchema, ResponseFormatJsonSchemaType, StreamError, TextContent, Tool, ToolType,
    UserMessage, UserMessageRole, builder,
};
use parley_progenitor::{Client, Error};
use reqwest::header::{AUTHORIZATION, HeaderMap};
use serde_json::{Map, Value, json};

const MODEL: &str = "vendor/model-1";

type Failure = Box<dyn StdError>;

fn connect_http() -> Result<reqwest::Client, Failure> {
    let authorization = format!("Bearer {}", env::var("PARLEY_KEY")?).parse()?;
    let headers = HeaderMap::from_iter([(AUTHORIZATION, authorization)]);
    Ok(reqwest::Client::builder().default_headers(headers).build()?)
}

fn connect() -> Result<Client, Failure> {
    Ok(Client::new_with_client(&env::var("PARLEY_URL")?, connect_http()?))
}

fn city() -> Map<String, Value> {
    let properties = json!({ "city": { "type": "string" } });
    Map::from_iter([("type".into(), "object".into()), ("properties".into(), properties)])
}

fn new_request(model: &str, prompt: &str) -> Result<builder::ChatCompletionRequest, Failure> {
    let content = MessageContent::TextContent(TextContent::try_from(prompt)?);
    let message = UserMessage::builder().role(UserMessageRole::User).content(content);
    let messages = vec![ChatMessage::UserMessage(message.try_into()?)];
    Ok(ChatCompletionRequest::builder().model(model).messages(messages))
}

async fn print_models() -> Result<(), Failure> {
    for model in connect()?.list_models().send().await?.into_inner().data {
        println!("{}", *model.id);
    }
    Ok(())
}

async fn answer(prompt: &str) -> Result<(), Failure> {
    let function = FunctionDefinition::builder().name("get_weather").parameters(city());
    let tool = Tool::builder().type_(ToolType::Function).function(function);
    let schema = JsonSchemaFormat::builder().name("city").schema(city());
    let format = ResponseFormatJsonSchema::builder().type_(ResponseFormatJsonSchemaType::JsonSchema).json_schema(schema);
    let request = new_request(MODEL, prompt)?
        .tools(vec![tool.try_into()?])
        .response_format(ResponseFormat::JsonSchema(format.try_into()?));
    let completion = connect()?.create_chat_completion().body(request).send().await?.into_inner();
    for choice in completion.choices {
        println!("{} {}", choice.finish_reason, choice.message.content.unwrap_or_default());
        for call in choice.message.tool_calls {
            println!("{} {}", *call.function.name, *call.function.arguments);
        }
    }
    Ok(())
}

async fn refusal() -> Result<(), Failure> {
    let request = new_request("vendor/none", "Hello")?;
    match connect()?.create_chat_completion().body(request).send().await {
        Err(Error::ErrorResponse(response)) => {
            let status = response.status().as_u16();
            let error = response.into_inner().error;
            let code = error.code.0.map(|code| code.to_string()).unwrap_or_default();
            println!("{status} {} {code}", error.type_);
            Ok(())
        }
        Err(failure) => Err(failure.into()),
        Ok(_) => Err("the model exists".into()),
    }
}

/// Sends the request itself, since the client reads the whole answer before it returns.
async fn stream(prompt: &str) -> Result<(), Failure> {
    let request: ChatCompletionRequest = new_request(MODEL, prompt)?.stream(true).try_into()?;
    let url = format!("{}/v1/chat/completions", env::var("PARLEY_URL")?);
    let response = connect_http()?.post(url).json(&request).send().await?.error_for_status()?;
    let mut events = response.bytes_stream().eventsource();
    while let Some(event) = events.next().await {
        let data = event?.data;
        if data == "[DONE]" {
            return Ok(());
        }
        print_chunk(read_chunk(&data)?);
    }
    Err("truncated: the stream ended without [DONE]".into())
}

fn read_chunk(data: &str) -> Result<ChatCompletionChunk, Failure> {
    let event: Value = serde_json::from_str(data)?;
    if event.get("error").is_none() {
        return Ok(serde_json::from_value(event)?);
    }
    let StreamError { error, .. } = serde_json::from_value(event)?;
    let code = error.code.0.map(|code| code.to_string()).unwrap_or_default();
    Err(format!("stream error: {code}").into())
}

fn print_chunk(chunk: ChatCompletionChunk) {
    for choice in chunk.choices {
        if let Some(text) = choice.delta.content.filter(|text| !text.is_empty()) {
            println!("{text}");
        }
        if let Some(reason) = choice.finish_reason.0 {
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

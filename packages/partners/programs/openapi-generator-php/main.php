<?php

// Usage: program models | program answer PROMPT | program error | program stream PROMPT

declare(strict_types=1);

require 'GuzzleHttp/autoload.php';

use GuzzleHttp\Client;
use GuzzleHttp\Psr7\Utils;
use Parley\Api\ChatApi;
use Parley\Api\ModelsApi;
use Parley\ApiException;
use Parley\Configuration;
use Parley\Model\ChatCompletionChunk;
use Parley\Model\ChatCompletionRequest;
use Parley\Model\ErrorResponse;
use Parley\Model\FunctionDefinition;
use Parley\Model\JsonSchemaFormat;
use Parley\Model\ResponseFormatJsonSchema;
use Parley\Model\StreamError;
use Parley\Model\Tool;
use Parley\Model\UserMessage;
use Parley\ObjectSerializer;

spl_autoload_register(function (string $class): void {
    require __DIR__ . '/parley/lib/' . str_replace(['Parley\\', '\\'], ['', '/'], $class) . '.php';
});

const MODEL = 'vendor/model-1';
const CITY = ['type' => 'object', 'properties' => ['city' => ['type' => 'string']]];

final class StreamFailure extends Exception
{
}

function connect(): Configuration
{
    return (new Configuration())->setHost((string) getenv('PARLEY_URL'))->setAccessToken((string) getenv('PARLEY_KEY'));
}

function newRequest(string $model, string $prompt): ChatCompletionRequest
{
    $message = new UserMessage(['role' => UserMessage::ROLE_USER, 'content' => $prompt]);
    return new ChatCompletionRequest(['model' => $model, 'messages' => [$message]]);
}

function listModels(): void
{
    foreach ((new ModelsApi(config: connect()))->listModels()->getData() as $model) {
        echo $model->getId(), "\n";
    }
}

function answer(string $prompt): void
{
    $function = new FunctionDefinition(['name' => 'get_weather', 'parameters' => CITY]);
    $format = new ResponseFormatJsonSchema([
        'type' => ResponseFormatJsonSchema::TYPE_JSON_SCHEMA,
        'json_schema' => new JsonSchemaFormat(['name' => 'city', 'schema' => CITY]),
    ]);
    $request = newRequest(MODEL, $prompt)
        ->setTools([new Tool(['type' => Tool::TYPE__FUNCTION, 'function' => $function])])
        ->setResponseFormat($format);
    foreach ((new ChatApi(config: connect()))->createChatCompletion($request)->getChoices() as $choice) {
        echo $choice->getFinishReason(), ' ', $choice->getMessage()->getContent(), "\n";
        foreach ($choice->getMessage()->getToolCalls() as $call) {
            echo $call->getFunction()->getName(), ' ', $call->getFunction()->getArguments(), "\n";
        }
    }
}

function refusal(): void
{
    try {
        (new ChatApi(config: connect()))->createChatCompletion(newRequest('vendor/none', 'Hello'));
    } catch (ApiException $failure) {
        $refused = $failure->getResponseObject();
        if (!$refused instanceof ErrorResponse) {
            throw $failure;
        }
        $error = $refused->getError();
        echo $failure->getCode(), ' ', $error->getType(), ' ', $error->getCode(), "\n";
    }
}

/** The client makes the request, and leaves it to the program to read its answer piece by piece. */
function stream(string $prompt): void
{
    $request = (new ChatApi(config: connect()))->createChatCompletionRequest(newRequest(MODEL, $prompt)->setStream(true));
    $body = (new Client())->send($request, ['stream' => true])->getBody();
    while (($line = Utils::readLine($body)) !== '') {
        if (!str_starts_with($line, 'data: ')) {
            continue; // an empty line, or a keep-alive comment
        }
        $data = rtrim(substr($line, strlen('data: ')));
        if ($data === '[DONE]') {
            return;
        }
        printChunk(readChunk(json_decode($data, flags: JSON_THROW_ON_ERROR)));
    }
    throw new StreamFailure('truncated: the stream ended without [DONE]');
}

function readChunk(stdClass $event): ChatCompletionChunk
{
    if (!isset($event->error)) {
        return ObjectSerializer::deserialize($event, ChatCompletionChunk::class);
    }
    $failure = ObjectSerializer::deserialize($event, StreamError::class);
    throw new StreamFailure('stream error: ' . $failure->getError()->getCode());
}

function printChunk(ChatCompletionChunk $chunk): void
{
    foreach ($chunk->getChoices() as $choice) {
        if (($choice->getDelta()->getContent() ?? '') !== '') {
            echo $choice->getDelta()->getContent(), "\n";
        }
        if ($choice->getFinishReason() !== null) {
            echo $choice->getFinishReason(), "\n";
        }
    }
}

try {
    match ($argv[1]) {
        'models' => listModels(),
        'answer' => answer($argv[2]),
        'error' => refusal(),
        default => stream($argv[2]),
    };
} catch (StreamFailure $failure) {
    echo $failure->getMessage(), "\n";
    exit(1);
}

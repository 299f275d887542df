// Usage: program models | program answer PROMPT | program error | program stream PROMPT
package partner

import java.time.Duration
import kotlin.system.exitProcess
import kotlinx.serialization.json.JsonElement
import kotlinx.serialization.json.buildJsonObject
import kotlinx.serialization.json.put
import kotlinx.serialization.json.putJsonObject
import okhttp3.MediaType.Companion.toMediaType
import okhttp3.OkHttpClient
import okhttp3.Request
import okhttp3.RequestBody.Companion.toRequestBody
import okhttp3.Response
import okhttp3.sse.EventSource
import okhttp3.sse.EventSourceListener
import okhttp3.sse.EventSources
import parley.apis.ChatApi
import parley.apis.ModelsApi
import parley.infrastructure.ApiClient
import parley.infrastructure.ClientError
import parley.infrastructure.ClientException
import parley.infrastructure.Serializer
import parley.models.ChatCompletionChunk
import parley.models.ChatCompletionRequest
import parley.models.ChatMessage
import parley.models.ErrorResponse
import parley.models.FunctionDefinition
import parley.models.JsonSchemaFormat
import parley.models.MessageContent
import parley.models.ResponseFormat
import parley.models.ResponseFormatJsonSchema
import parley.models.StreamEvent
import parley.models.Tool
import parley.models.UserMessage

const val MODEL = "vendor/model-1"
val city: Map<String, JsonElement> = buildJsonObject {
    put("type", "object")
    putJsonObject("properties") { putJsonObject("city") { put("type", "string") } }
}

val url: String = System.getenv("PARLEY_URL")
val key: String = System.getenv("PARLEY_KEY")

class StreamFailure(message: String) : Exception(message)

fun newRequest(model: String, prompt: String): ChatCompletionRequest {
    val message = UserMessage(UserMessage.Role.user, MessageContent.StringValue(prompt))
    return ChatCompletionRequest(model, listOf(ChatMessage.UserWrapper(message)))
}

fun listModels() {
    for (model in ModelsApi(url).listModels(null).data) println(model.id)
}

fun answer(prompt: String) {
    val function = FunctionDefinition("get_weather", parameters = city)
    val format = ResponseFormatJsonSchema(ResponseFormatJsonSchema.Type.json_schema, JsonSchemaFormat("city", city))
    val request = newRequest(MODEL, prompt).copy(
        tools = listOf(Tool(Tool.Type.function, function)),
        responseFormat = ResponseFormat.JsonSchemaWrapper(format),
    )
    for (choice in ChatApi(url).createChatCompletion(request, null, null).choices) {
        println("${choice.finishReason} ${choice.message.content}")
        for (call in choice.message.toolCalls.orEmpty()) println("${call.function.name} ${call.function.arguments}")
    }
}

fun refusal() {
    try {
        ChatApi(url).createChatCompletion(newRequest("vendor/none", "Hello"), null, null)
    } catch (failure: ClientException) {
        val body = (failure.response as ClientError<*>).body as String
        val (error) = Serializer.kotlinxSerializationJson.decodeFromString<ErrorResponse>(body)
        println("${failure.statusCode} ${error.type} ${error.code}")
    }
}

/** Sends the request itself, since the client reads the whole answer before it returns. */
fun stream(prompt: String) {
    val body = Serializer.kotlinxSerializationJson.encodeToString(newRequest(MODEL, prompt).copy(stream = true))
    val request = Request.Builder()
        .url("$url/v1/chat/completions")
        .header("Authorization", "Bearer $key")
        .post(body.toRequestBody("application/json".toMediaType()))
        .build()
    // Longer than the 15 seconds between keep-alive comments.
    val client = OkHttpClient.Builder().readTimeout(Duration.ofSeconds(30)).build()
    val reader = ChunkReader()
    client.newCall(request).execute().use { EventSources.processResponse(it, reader) }
    if (!reader.isWhole) throw StreamFailure(reader.failure)
}

/** Prints the chunks of a stream, and keeps how it ended. */
class ChunkReader : EventSourceListener() {
    var isWhole = false
    var failure = "truncated: the stream ended without [DONE]"

    override fun onEvent(eventSource: EventSource, id: String?, type: String?, data: String) {
        if (data == "[DONE]") {
            isWhole = true
            return
        }
        when (val event = Serializer.kotlinxSerializationJson.decodeFromString<StreamEvent>(data)) {
            is StreamEvent.ChatCompletionChunkValue -> print(event.value)
            is StreamEvent.StreamErrorValue -> failure = "stream error: ${event.value.error.code}"
        }
    }

    override fun onFailure(eventSource: EventSource, t: Throwable?, response: Response?) {
        failure = t?.toString() ?: "status ${response?.code}"
    }

    private fun print(chunk: ChatCompletionChunk) {
        for (choice in chunk.choices) {
            val text = choice.delta.content.orEmpty()
            if (text != "") println(text)
            if (choice.finishReason != null) println(choice.finishReason)
        }
    }
}

fun main(args: Array<String>) {
    ApiClient.accessToken = key
    try {
        when (args[0]) {
            "models" -> listModels()
            "answer" -> answer(args[1])
            "error" -> refusal()
            else -> stream(args[1])
        }
    } catch (failure: StreamFailure) {
        println(failure.message)
        exitProcess(1)
    }
}

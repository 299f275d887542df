"""Pydantic AI with its model for compatible services."""

from typing import Any

from openai import AsyncOpenAI
from pydantic_ai import Agent, NativeOutput
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

from completions import Answer
from driver import thrown

# It sets these itself.
OWN = {"model", "messages", "tools", "tool_choice", "stream_options", "response_format"}


def make(base_url: str, key: str, call: dict[str, Any]) -> dict[str, Any] | None:
    members = call["members"]
    messages = members["messages"]
    is_plain = len(messages) == 1 and isinstance(messages[0]["content"], str)
    if not is_plain or {"n", "response_format", "logprobs"} & set(members):
        return None
    client = AsyncOpenAI(base_url=base_url, api_key=key, timeout=call["timeoutSeconds"])
    model = OpenAIChatModel(members["model"], provider=OpenAIProvider(openai_client=client))
    settings: Any = {"extra_body": {name: value for name, value in members.items() if name not in OWN}}
    prompt = messages[0]["content"]
    match call["method"]:
        case "chat" if "tools" not in members:
            result = Agent(model).run_sync(prompt, model_settings=settings)
            return outcome_of(result.output, result)
        case "stream" if "tools" not in members:
            return read_stream(Agent(model), prompt, settings)
        case "parse":
            result = Agent(model, output_type=NativeOutput(Answer), retries=0).run_sync(prompt, model_settings=settings)
            return {"parsed": result.output.model_dump()}
        case "tool loop":
            # The output is a forced call with the arguments of this type.
            agent = Agent(model, output_type=Answer, retries=0)
            return {"parsed": agent.run_sync(prompt, model_settings=settings).output.model_dump()}
    return None


def outcome_of(text: str, result: Any) -> dict[str, Any]:
    usage: Any = result.usage() if callable(result.usage) else result.usage
    response = result.all_messages()[-1]
    choice = {"text": text, "finish": response.finish_reason}
    thinking = response.thinking
    return {
        "choices": [{**choice, **({"reasoning": thinking} if thinking else {})}],
        "usage": [usage.input_tokens, usage.output_tokens],
    }


def read_stream(agent: Any, prompt: str, settings: Any) -> dict[str, Any]:
    text = ""
    try:
        with agent.run_stream_sync(prompt, model_settings=settings) as result:
            for piece in result.stream_text(delta=True, debounce_by=None):
                text += piece
            return outcome_of(text, result)
    except Exception as error:
        return {"choices": [{"text": text, "finish": None}], **thrown(error)}

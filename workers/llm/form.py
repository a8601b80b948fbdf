"""The form a model answers in: a schema that the server enforces, for servers that do. Loaded only with a model.

DSPy's usual form is text between marks, which streams and which any model of some size keeps to. Small local models
lose it; their servers (llama.cpp, vLLM, Ollama) let only tokens through that fit a JSON schema.
"""

from __future__ import annotations

from typing import Any, Literal

import dspy
from pydantic import create_model

Form = Literal["marks", "json_schema"]


class SchemaForm(dspy.JSONAdapter):
    """Asks for a JSON object and sends its schema along, whatever DSPy knows of the model."""

    def _prepare_response_format(self, lm: Any, lm_kwargs: dict[str, Any], signature: Any) -> None:  # noqa: ARG002
        lm_kwargs["response_format"] = {
            "type": "json_schema",
            "json_schema": {"name": signature.__name__, "schema": schema_of(signature)},
        }


def schema_of(signature: Any) -> dict[str, Any]:
    """Return the JSON schema of a signature's output fields, all of them required and none beside them."""
    fields: dict[str, Any] = {name: (field.annotation, ...) for name, field in signature.output_fields.items()}
    answer: Any = create_model(signature.__name__, **fields)
    return answer.model_json_schema() | {"additionalProperties": False}


def adapter_of(form: Form) -> dspy.Adapter:
    """Return the adapter of a form. Neither asks a second time in another form when it cannot read an answer."""
    if form == "json_schema":
        return SchemaForm(use_native_function_calling=False)
    return dspy.ChatAdapter(use_json_adapter_fallback=False)

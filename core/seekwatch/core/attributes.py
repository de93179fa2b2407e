"""Attribute names on spans: the one list that the SDK writes and the normaliser reads.

A name of ours (`seekwatch.*`) exists only where no convention has one. The order of preference is
OpenTelemetry semantic conventions (HTTP, GenAI), then OpenInference, then the names that retrieval
monitors share (`search.query`, `retrieval.*`), then ours. `docs/attributes.md` shows the same list
with types and examples and is checked against this module by a test.

This module imports nothing: it is loaded into every instrumented agent.
"""

from typing import Final

# --- OpenInference: kind of span, input and output, documents -----------------------------------

SPAN_KIND: Final = "openinference.span.kind"
"""One of the `KIND_*` values below."""

KIND_AGENT: Final = "AGENT"
KIND_CHAIN: Final = "CHAIN"
KIND_EVALUATOR: Final = "EVALUATOR"
KIND_GUARDRAIL: Final = "GUARDRAIL"
KIND_LLM: Final = "LLM"
KIND_RETRIEVER: Final = "RETRIEVER"
KIND_TOOL: Final = "TOOL"

INPUT_VALUE: Final = "input.value"
INPUT_MIME_TYPE: Final = "input.mime_type"
OUTPUT_VALUE: Final = "output.value"
OUTPUT_MIME_TYPE: Final = "output.mime_type"
RETRIEVAL_DOCUMENTS: Final = "retrieval.documents"
"""Prefix of the flattened form: `retrieval.documents.N.document.{id,content,score,metadata}`."""

DOCUMENT_ID: Final = "document.id"
DOCUMENT_CONTENT: Final = "document.content"
DOCUMENT_SCORE: Final = "document.score"
DOCUMENT_METADATA: Final = "document.metadata"
"""JSON object; we write the keys url, title, published_date, rank, provider."""

TOOL_NAME: Final = "tool.name"
SESSION_ID: Final = "session.id"
USER_ID: Final = "user.id"

# --- OpenTelemetry GenAI conventions ------------------------------------------------------------

OPERATION_NAME: Final = "gen_ai.operation.name"
OPERATION_CHAT: Final = "chat"
OPERATION_EXECUTE_TOOL: Final = "execute_tool"
OPERATION_INVOKE_AGENT: Final = "invoke_agent"
OPERATION_RETRIEVAL: Final = "retrieval"

AGENT_NAME: Final = "gen_ai.agent.name"
CONVERSATION_ID: Final = "gen_ai.conversation.id"
GENAI_TOOL_NAME: Final = "gen_ai.tool.name"
TOOL_CALL_ARGUMENTS: Final = "gen_ai.tool.call.arguments"
TOOL_CALL_RESULT: Final = "gen_ai.tool.call.result"
DATA_SOURCE_ID: Final = "gen_ai.data_source.id"
RETRIEVAL_QUERY_TEXT: Final = "gen_ai.retrieval.query.text"
GENAI_RETRIEVAL_DOCUMENTS: Final = "gen_ai.retrieval.documents"
"""The complete carrier of search results: a JSON array of objects with id (the URL), url, title,
published_date, recency_days, rank (from 1), score, content. Absent keys are left out."""
RETRIEVAL_TOP_K: Final = "gen_ai.retrieval.top_k"

PROVIDER_NAME: Final = "gen_ai.provider.name"
REQUEST_MODEL: Final = "gen_ai.request.model"
REQUEST_STREAM: Final = "gen_ai.request.stream"
RESPONSE_MODEL: Final = "gen_ai.response.model"
RESPONSE_ID: Final = "gen_ai.response.id"
FINISH_REASONS: Final = "gen_ai.response.finish_reasons"
INPUT_MESSAGES: Final = "gen_ai.input.messages"
OUTPUT_MESSAGES: Final = "gen_ai.output.messages"
SYSTEM_INSTRUCTIONS: Final = "gen_ai.system_instructions"
INPUT_TOKENS: Final = "gen_ai.usage.input_tokens"
OUTPUT_TOKENS: Final = "gen_ai.usage.output_tokens"
CACHE_READ_INPUT_TOKENS: Final = "gen_ai.usage.cache_read.input_tokens"
CACHE_CREATION_INPUT_TOKENS: Final = "gen_ai.usage.cache_creation.input_tokens"
"""Part of the input tokens, as the tokens read from a cache are."""
REASONING_OUTPUT_TOKENS: Final = "gen_ai.usage.reasoning.output_tokens"
TIME_TO_FIRST_CHUNK: Final = "gen_ai.response.time_to_first_chunk"
"""Seconds."""

EVALUATION_EVENT: Final = "gen_ai.evaluation.result"
EVALUATION_NAME: Final = "gen_ai.evaluation.name"
EVALUATION_SCORE: Final = "gen_ai.evaluation.score.value"
EVALUATION_LABEL: Final = "gen_ai.evaluation.score.label"
EVALUATION_EXPLANATION: Final = "gen_ai.evaluation.explanation"

# --- OpenTelemetry HTTP conventions -------------------------------------------------------------

HTTP_METHOD: Final = "http.request.method"
HTTP_STATUS: Final = "http.response.status_code"
HTTP_DURATION: Final = "http.client.request.duration"
"""Seconds; the convention's metric name, carried on our spans too."""
HTTP_RESEND_COUNT: Final = "http.request.resend_count"
URL_FULL: Final = "url.full"
SERVER_ADDRESS: Final = "server.address"
SERVER_PORT: Final = "server.port"
ERROR_TYPE: Final = "error.type"
RESPONSE_BODY_SIZE: Final = "http.response.body.size"
REQUEST_HEADER: Final = "http.request.header."
"""Prefix; we write `if-none-match` and `if-modified-since`, each a list of strings."""
RESPONSE_HEADER: Final = "http.response.header."
"""Prefix; we write the names in `RESPONSE_HEADERS`, each a list of strings."""

REQUEST_HEADERS: Final = ("if-none-match", "if-modified-since")
RESPONSE_HEADERS: Final = (
    "age",
    "cache-control",
    "content-type",
    "date",
    "etag",
    "expires",
    "last-modified",
    "location",
    "retry-after",
    "vary",
)

# --- Names that retrieval monitors share --------------------------------------------------------

SEARCH_QUERY: Final = "search.query"
"""The query exactly as it was sent."""
SOURCE_TYPE: Final = "retrieval.source_type"
SOURCE_TYPE_WEB: Final = "web"
SOURCE_URL: Final = "retrieval.source_url"
"""On a fetch: the URL the body came from. On a search: list of strings, by rank."""
SOURCE_RECENCY_DAYS: Final = "retrieval.source_recency_days"
"""On a search: list of doubles in the order of the *dated* results (the JSON carrier has each
result's own)."""
SOURCE_AUTHORITY: Final = "retrieval.source_authority_score"

# --- Ours ---------------------------------------------------------------------------------------

SDK_VERSION: Final = "seekwatch.sdk.version"
ENVIRONMENT: Final = "deployment.environment.name"
SERVICE_NAME: Final = "service.name"
SERVICE_VERSION: Final = "service.version"
SERVICE_INSTANCE_ID: Final = "service.instance.id"

SEARCH_PROVIDER: Final = "seekwatch.search.provider"
SEARCH_UNREAD: Final = "seekwatch.search.unread_reason"
"""Why the results of a search could not be read: `html` (a page for people), `not-json`,
`unknown-shape`, `too-large`, `closed-early`, `queue-full`, `failed` (in the SDK itself)."""
SEARCH_RESULT_COUNT: Final = "seekwatch.search.result_count"
SEARCH_MISSING: Final = "seekwatch.search.missing"
"""List of strings: what the answer to a search does not say at all: `query`, `results`, `urls`,
`dates`. On a model call, of the searches that its provider ran. A search whose results have some
dates is missing none."""

LLM_UNREAD: Final = "seekwatch.llm.unread_reason"
"""Why an answer of a model could not be read: `empty`, `not-json`, `unknown-shape`, `too-deep`,
`queue-full`, `failed` (in the SDK itself); `background`: it was to come later, and nobody came back
for it; or `cut`: a part of it was not seen, and what was is read."""

GATEWAY_NAME: Final = "seekwatch.gateway.name"
"""The gateway before the model, as its answer names itself: `litellm`, `kong`, `openrouter`."""
GATEWAY_COST: Final = "seekwatch.gateway.cost"
"""US dollars, as the gateway reports them; it wins over a price list."""
GATEWAY_LATENCY: Final = "seekwatch.gateway.latency"
"""Seconds that the gateway says the model took."""
GATEWAY_MODEL: Final = "seekwatch.gateway.model"
"""The model that the gateway says it used."""
GATEWAY_PROVIDER: Final = "seekwatch.gateway.provider"
"""Who the gateway says answered behind it."""
GATEWAY_FALLBACK: Final = "seekwatch.gateway.fallback_used"
"""True when not the first choice answered, False when it did."""
GATEWAY_CACHE: Final = "seekwatch.gateway.cache"
"""One of `hit`, `miss`, `refresh`, `bypass`, `disabled`."""
GATEWAY_REQUEST_ID: Final = "seekwatch.gateway.request_id"
"""The gateway's own id of the call, to find it there."""

FETCH_ADAPTER: Final = "seekwatch.fetch.adapter"
"""One of cache, fetch, search, crawl, browser, stealth."""
FETCH_API: Final = "seekwatch.fetch.api"
"""The API that fetched the page for the agent (`firecrawl`, `jina-reader`, …); `url.full` is the
page's and `server.address` the API's."""
FETCH_FINAL_URL: Final = "seekwatch.fetch.final_url"
FETCH_HOPS: Final = "seekwatch.fetch.hops"
"""JSON array of `{"url", "status", "location"}`, first request first, the last answer left out."""
FETCH_ATTEMPT: Final = "seekwatch.fetch.attempt"
"""Ordinal of this attempt at the same method and URL in the run, from 1."""
FETCH_FROM_CACHE: Final = "seekwatch.fetch.from_cache"
FETCH_CACHE_SCOPE: Final = "seekwatch.fetch.cache_scope"
FETCH_CRAWL_DEPTH: Final = "seekwatch.fetch.crawl_depth"
FETCH_PAGE_LOAD: Final = "seekwatch.fetch.page_load_id"
FETCH_ACTION: Final = "seekwatch.fetch.action"
"""One of read, write, destructive."""
RETRIEVED_AT: Final = "seekwatch.fetch.retrieved_at"
"""RFC 3339 with milliseconds, UTC."""
CONTENT_HASH: Final = "seekwatch.content.hash"
"""`sha256:` and 64 hex digits, over the decoded body as received."""
CONTENT_TYPE: Final = "seekwatch.content.type"
CONTENT_BODY: Final = "seekwatch.content.body"
"""The redacted body, zlib-compressed, base64; absent when over the cap or not captured."""
CONTENT_ENCODING: Final = "seekwatch.content.encoding"
CONTENT_ENCODING_ZLIB: Final = "zlib+base64"
CONTENT_TRUNCATED: Final = "seekwatch.content.truncated"
"""True when only a leading part of the body is in `seekwatch.content.body`."""
CONTENT_OMITTED: Final = "seekwatch.content.omitted_reason"
"""Why there is no body: `not-text`, `capture-off`, `empty`, `closed-early`, `queue-full`,
`search-results` (it was read into the RETRIEVER span above), `attribute-limit`, `too-large`,
`undecodable`, `unknown-shape` (an API's answer in which no page was found), `failed` (in the SDK
itself)."""

QUESTION: Final = "seekwatch.run.question"
ANSWER: Final = "seekwatch.run.answer"
CITATIONS: Final = "seekwatch.run.citations"
"""JSON array of `{"url", "title", "quote", "start", "end"}`; offsets are characters of the answer,
half-open; only `url` is required."""
STOP_REASON: Final = "seekwatch.run.stop_reason"
"""One of answered, refused, deadline, budget, crashed."""
RUN_ROOT: Final = "seekwatch.run.root"
"""What made the run's root: `agent_run`, `entrypoint` or `implicit`; roots that frameworks made
carry none."""
RUN_QUESTIONS: Final = "seekwatch.run.questions"
"""How many different questions an implicit run held; more than one: several runs were mixed."""
UNSAMPLED_RUNS: Final = "seekwatch.sdk.unsampled_runs"
"""Runs of this process so far that an unsampled parent or a sampler kept from us; absent where
there was none."""
SAMPLED_RUNS: Final = "seekwatch.sdk.sampled_runs"
"""Beside the former: runs of this process so far that were sampled."""
LANE: Final = "seekwatch.run.lane"
CASE_ID: Final = "seekwatch.run.case"
CORPUS_VERSION: Final = "seekwatch.run.corpus"
REGION: Final = "seekwatch.run.region"
AS_OF: Final = "seekwatch.run.as_of"
"""RFC 3339: the moment that ages count from, when it is not the run's own time."""
PRINCIPAL: Final = "seekwatch.run.principal"
"""Salted hash of the user on whose behalf the run went; never the name itself."""
CONFIGURATION: Final = "seekwatch.run.configuration"
"""Fingerprint of the agent's configuration."""
FRESHNESS_REGIME: Final = "seekwatch.freshness.regime"
VIRTUAL_SECONDS: Final = "seekwatch.virtual_seconds"

LIMIT_PREFIX: Final = "seekwatch.limit."
"""`deadline` (s), `budget` (US dollars), `attempts`, `retries`, `requests`, `crawl_depth`,
`escalations` (counts); an absent limit is no limit."""

CONTENT_WITHHELD: Final = "seekwatch.content.withheld"
"""True on spans of an agent that runs with `capture_content=False`."""
WITHHELD_HASH: Final = ".hash"
"""Suffix: where content is withheld, `KEY.hash` has its salted `sha256:` hash instead."""
WITHHELD_LENGTH: Final = ".length"
"""Suffix: the length in characters of the content that is withheld under `KEY`."""
REDACTIONS: Final = "seekwatch.redactions"
"""How many secrets were masked on this span before export."""

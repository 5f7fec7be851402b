import type { ErrorCode } from '../../src/errors.ts'

/** Explanation of an error code: two short texts in Markdown. */
export interface Guidance {
  happened: string
  todo: string
}

/** Explanations of all error codes, for the pages that error replies link to and for docs/reference/errors.md. */
export const GUIDANCE: Readonly<Record<ErrorCode, Guidance>> = {
  invalid_request: {
    happened:
      'The request is not valid HTTP, does not have exactly one valid `Host` header, or asks for something unsupported.',
    todo: 'Change the request as the message says. An unchanged request fails again.',
  },
  invalid_json: {
    happened: 'The body is not JSON in UTF-8.',
    todo: 'Check quotes, commas and the encoding. In a shell put the body in single quotes.',
  },
  invalid_cursor: {
    happened: 'The `cursor` does not come from this list, or the filters have changed since.',
    todo: 'Send `next_cursor` of the previous page with the same filters, or omit the cursor to start again.',
  },
  unknown_config_key: {
    happened: 'The configuration has no such key.',
    todo: 'Use a key of docs/reference/configuration.md; the message suggests the nearest one.',
  },
  model_not_supported: {
    happened: 'The endpoint does not support the model, or the model does not support a feature of the request.',
    todo: 'For metered calls use a model of `GET /api/wallet/metered/pricing`; for others use one that the message names.',
  },
  context_length_exceeded: {
    happened:
      'The request, or the request and the longest answer that it allows, exceed the context window of the model.',
    todo: 'Shorten the conversation, lower the limit of the answer, or choose a model with a larger window. Agents compact the conversation by themselves.',
  },
  field_not_allowed: {
    happened:
      'A field of the request chooses other models, providers, tools or prices in a way whose effect is not known before the call. Keys with a budget, a charge or a list of models may not send it.',
    todo: 'Omit the field that `param` names, name the models in it, or use a key without such limits. Other unknown fields pass.',
  },
  invalid_api_key: {
    happened: 'No API key was sent, or the key is unknown, revoked or replaced by rotation.',
    todo:
      'Send `Authorization: Bearer KEY`. `gazeway key list` shows the keys; `gazeway key create` creates one. Both need the ' +
      'data folder and store of the service: its `--data` (`GAZEWAY_HOME`) and `--store` (`GAZEWAY_STORE`).',
  },
  key_expired: {
    happened: 'The key has expired.',
    todo: 'An admin can extend it: `gazeway key edit ID --expires 90d`. The key then works again.',
  },
  invalid_ticket: {
    happened: 'The ticket for the socket is unknown, was used, or is older than a minute.',
    todo: 'Get a new ticket with `POST /api/connections`, and connect at once.',
  },
  insufficient_credit: {
    happened:
      'The call, reward or withdrawal may need more than the deposits and the credit of the key. No money was moved for it.',
    todo: 'Deposit (`POST /api/wallet/metered/deposit`), lower the limit of the answer (`max_tokens`, `max_output_tokens`) or the amount, or have an admin raise the credit limit.',
  },
  payment_required: {
    happened: 'The request needs a payment, or its payment was not accepted.',
    todo: 'Answer the challenge in `WWW-Authenticate` with an MPP client, or send an API key.',
  },
  budget_reached: {
    happened:
      'The call can cost more than is left of a budget of the key or its group. In a stream: the answer cost more than its reservation.',
    todo: 'Wait until the budget resets, lower the limit of the answer (`max_tokens`, `max_output_tokens`), or have an admin raise it: `gazeway key edit ID --budget 10/day`.',
  },
  session_budget_reached: {
    happened:
      'The session of a coding agent has reached a limit of its key or group: its budget, its calls or its minutes. In a stream: the answer cost more than was left.',
    todo: 'Start a new session, or ask an admin to raise this one: `gazeway session resume ID --raise 2`, or `POST /api/coding-sessions/{id}/resume`.',
  },
  session_repeats: {
    happened:
      'The session of a coding agent has made the same request, or got the same result of the same tool call, as often as `limits.repeats` of its key or group allows.',
    todo: 'Tell the agent to do something else, start a new session, or have an admin raise the limit: `gazeway key edit ID --repeats 20/10`, or `none`.',
  },
  session_stopped: {
    happened:
      'An admin has stopped this session of a coding agent. A stream that was under way ends with this error. It is 402, which Claude Code shows at once, and Codex after a few retries within ten seconds.',
    todo: 'Start a new session, or ask an admin to let this one go on: `gazeway session resume ID`, or `POST /api/coding-sessions/{id}/resume`.',
  },
  debt_open: {
    happened:
      'The account owes more than its credit: the provider read or generated more than was reserved for earlier calls.',
    todo: 'Deposit what the message names (`POST /api/wallet/metered/deposit`), or have an admin raise the credit limit.',
  },
  insufficient_scope: {
    happened: 'The key does not have the scope that this route requires: `inference`, `platform` or `admin`.',
    todo: 'Use another key, or create one: `gazeway key create --scope inference,platform`. Keys, settings, deposits and withdrawals need `admin`.',
  },
  model_not_allowed: {
    happened: 'The key is limited to some models. This model, or a target of its route, is not one of them.',
    todo: 'Request an allowed model, or have an admin change the list: `gazeway key edit ID --models GLOBS`.',
  },
  model_not_priced: {
    happened:
      'No price is known for the model, or for a target of its route. A key with a budget or a charge may not use it, since its cost could not be limited; with `pricing.unknown` on `refuse` nobody may.',
    todo: 'Request a model of `gazeway prices`, or have an admin set its price in `pricing.models`, or set `pricing.unknown` (`unknown_price` for one upstream) to `dearest` or `flat`.',
  },
  limit_not_kept: {
    happened:
      'The operator bears no more for this key today: the model has ignored the limit of its answers or does not answer this key in time, or the key has left answers before their end, or sent requests that the provider refuses and bills.',
    todo: 'Ask another model if the message names one, wait until midnight UTC, or have the operator raise `wallet.absorbed_usd_per_day`.',
  },
  own_key_refused: {
    happened:
      'The request brings a credential for the provider itself, and the upstream that its model leads to takes none, or not for this endpoint.',
    todo: 'Omit `x-provider-key`, or `Authorization` beside `x-gazeway-key`, to use the operator’s key; or ask the operator for `own_keys` or `passthrough_credentials` of the upstream.',
  },
  forbidden: {
    happened: 'The key is valid, but the resource belongs to another key, or only admins may use it.',
    todo: 'Use the key of the owner, such as the creator or claimant of the task, or an admin key.',
  },
  gaze_verification_failed: {
    happened: 'The attestation does not prove a person’s attention to this task. Nothing has changed.',
    todo: 'The message lists the reasons. Store gaze records of the required key and time, and retry with their attestation.',
  },
  forbidden_path: {
    happened: 'The path is outside the project, or is not on the list of allowed paths.',
    todo: 'Use a path inside the project’s folder; for the provider’s API add the path to `upstream.allowed_paths`.',
  },
  forbidden_origin: {
    happened:
      'The `Host` or `Origin` of the request is not allowed. The check protects the service from foreign web pages.',
    todo: 'Use the address that the service listens on, or add the name to `http.allowed_hosts` or `http.allowed_origins`.',
  },
  not_found: {
    happened: 'The route or resource does not exist, or this key may not see it.',
    todo: 'Check the path and the id. `GET /openapi.json` on the platform lists all routes.',
  },
  model_not_found: {
    happened: 'No upstream with a key serves the model.',
    todo: 'Use the model that the message suggests or one of `GET /v1/models`, or set the key of its provider.',
  },
  unknown_tool: {
    happened: 'The tool does not exist, or is not offered (`--tools`, `--read-only`).',
    todo: 'Use a tool that `tools/list` names, or change `mcp.tools`.',
  },
  method_not_allowed: {
    happened: 'The path does not support this method.',
    todo: 'Use a method that the `allow` header lists.',
  },
  request_timeout: {
    happened: 'The request did not arrive in time.',
    todo: 'Retry. For slow connections raise `http.request_timeout_ms`.',
  },
  conflict: {
    happened: 'The request conflicts with the current state, such as a name that is taken.',
    todo: 'The message names the conflict. Read the current state, and decide again.',
  },
  balance_too_large: {
    happened: 'The account would hold or owe more than about 9 billion USD. Nothing was moved.',
    todo: 'Move a smaller amount, or use another account.',
  },
  invalid_transition: {
    happened: 'The task or the escrow has a status that does not allow this.',
    todo: 'Read it again: `GET /api/tasks/ID` or `GET /api/wallet/escrow/ID`. docs/reference/tasks.md shows the statuses.',
  },
  task_not_completed: {
    happened: 'The task of the escrow is not completed. An escrow is released only after that.',
    todo: 'Complete the task first, or refund the escrow.',
  },
  recipient_fixed: {
    happened: 'The escrow already has another recipient, fixed when it was locked or when the task was completed.',
    todo: 'Omit `recipient`, or send the one that the escrow shows.',
  },
  version_conflict: {
    happened: 'The memory was changed after you read it: its version is not `if_version`.',
    todo: 'Recall it, and decide again with its version.',
  },
  session_exists: {
    happened: 'A session with this id already exists.',
    todo: 'Use it, or choose another id.',
  },
  session_busy: {
    happened: 'Earlier messages of the session are still being answered. This one was not sent.',
    todo: 'Wait for their replies, and retry.',
  },
  idempotency_in_flight: {
    happened: 'The first request with this `Idempotency-Key` is still running.',
    todo: 'Retry the same request soon: it gets the first reply.',
  },
  idempotency_reply_not_kept: {
    happened:
      'The request has already been carried out. Its reply was not stored, because it contains a secret or is over 1 MiB.',
    todo: 'Read the created resource, which the message names. If a secret was lost, revoke or rotate the key.',
  },
  payload_too_large: {
    happened: 'The body, prompt or value is larger than allowed.',
    todo: 'Send less. The message names the limit, such as `http.max_body_bytes` or, below `/v1`, `http.max_model_body_bytes`.',
  },
  too_many_bodies: {
    happened: 'The bodies of the requests in progress leave no memory for that of this one. A key may hold half of it.',
    todo: 'Retry after the seconds in `Retry-After`. If it happens often, raise `http.max_buffered_bytes` or send smaller bodies.',
  },
  unsupported_media_type: {
    happened: 'The content type of the body is not JSON in UTF-8, or the body is compressed.',
    todo: 'Send `content-type: application/json`, uncompressed.',
  },
  expectation_failed: {
    happened: 'The `Expect` header asks for something other than `100-continue`.',
    todo: 'Omit the header.',
  },
  validation_failed: {
    happened: 'A field is missing, unknown or invalid. `param` names it.',
    todo: 'The message says what the field must be.',
  },
  idempotency_key_reused: {
    happened: 'This `Idempotency-Key` was already used for another request.',
    todo: 'Use a new key for each request, and the same key only to retry that request.',
  },
  rate_limited: {
    happened: 'The key or the address has reached its limit of requests per minute.',
    todo: 'Wait for the seconds in `retry-after`. The limits are `http.rate_limit.requests_per_minute` and `mpp.requests_per_minute`.',
  },
  too_many_requests: {
    happened: 'The key has reached its limit per minute or of concurrent calls, or the service is overloaded.',
    todo: 'Wait for the seconds in `retry-after`, or have an admin raise the limits of the key.',
  },
  header_too_large: {
    happened: 'The headers are over 16 KiB.',
    todo: 'Send fewer or shorter ones; cookies are never needed.',
  },
  cancelled: {
    happened: 'The client disconnected, or cancelled the call.',
    todo: 'Nothing. A call without an answer is not charged.',
  },
  internal_error: {
    happened: 'An unexpected error occurred in Gazeway.',
    todo: 'Find the `request_id` in the log, and report the error that is logged with it.',
  },
  service_stopping: {
    happened: 'The service stopped before the answer was complete.',
    todo: 'Retry once the service is back, with the same `Idempotency-Key` if there was one.',
  },
  payments_paused: {
    happened:
      'The account that settles payments has no gas, or payments have used the gas limit of this hour. No money was moved.',
    todo: 'Retry later. `gazeway doctor` shows the operator the cause.',
  },
  store_unavailable: {
    happened: 'The store did not answer: the data folder cannot be written, or PostgreSQL cannot be reached.',
    todo: 'Retry. If the error persists, `gazeway doctor` shows the cause.',
  },
  store_full: {
    happened: 'The disk of the store is full.',
    todo: 'Free some space, or use another folder with `--data`. Acknowledged records are not lost.',
  },
  store_too_new: {
    happened: 'The store was written by a newer version of Gazeway.',
    todo: 'Start that version, or restore a backup of this one.',
  },
  store_corrupt: {
    happened: 'The file of the store is damaged, or is not a store.',
    todo: 'Stop everything that uses it, and restore a backup: docs/guides/operate.md.',
  },
  config_invalid: {
    happened: 'The configuration is invalid, or lacks a setting that an enabled feature requires.',
    todo: 'The message names the field and what it must be. `gazeway doctor` checks the whole configuration.',
  },
  upstream_not_configured: {
    happened: 'The model provider requires a key, and none is set.',
    todo: 'Set its variable, such as `XAI_API_KEY`, where Gazeway starts, or start with `--upstream sandbox`.',
  },
  upstream_error: {
    happened: 'The provider refused the call, or sent an error instead of an answer. The message has the reason.',
    todo: 'Change what the reason names, or retry. `gateway_upstream_api_history` shows the call record.',
  },
  upstream_unreachable: {
    happened: 'The provider cannot be reached, or its circuit breaker is open after ten failures in a row.',
    todo: 'Check the address and the network with `gazeway doctor`, wait for `retry-after`, or add a fallback: docs/guides/routes.md.',
  },
  upstream_bad_reply: {
    happened: 'The provider’s reply is incomplete, too large or malformed.',
    todo: 'Retry. If the error persists, check that the base URL speaks the configured `upstream.protocol`.',
  },
  upstream_timeout: {
    happened: 'The provider or the chain did not answer in time.',
    todo: 'Retry, or raise `upstream.timeout_ms`.',
  },
  loop_detected: {
    happened: 'The request has passed through this Gazeway before.',
    todo: 'Check `upstream.provider` and `agent_gateway.url`: one of them points back to it.',
  },
}

import type { ErrorCode } from '../../src/errors.ts'

/** Explanation of an error code: two short texts in Markdown. */
export interface Guidance {
  happened: string
  todo: string
}

/** Explanation of every error code, for the pages that error replies link to and for docs/reference/errors.md. */
export const GUIDANCE: Readonly<Record<ErrorCode, Guidance>> = {
  invalid_request: {
    happened:
      'The request is not valid HTTP, has no single sound `Host` header, or says something that cannot be carried out.',
    todo: 'The message names the fault. Change the request; sent again as it is, it is refused again.',
  },
  invalid_json: {
    happened: 'The body is not JSON in UTF-8.',
    todo: 'Check quotes, commas and the encoding. In a shell put the body in single quotes.',
  },
  invalid_cursor: {
    happened: 'The `cursor` does not come from this list, or the list is asked with other filters than before.',
    todo: 'Send `next_cursor` of the page before with the same filters, or start without a cursor.',
  },
  unknown_config_key: {
    happened: 'The configuration has no such key.',
    todo: 'Take a key of docs/reference/configuration.md; the message names the nearest one.',
  },
  model_not_supported: {
    happened: 'The model cannot be asked here, or cannot do what the request asks of it.',
    todo: 'For metered calls take a model of `GET /api/wallet/metered/pricing`; otherwise one that the message names.',
  },
  invalid_api_key: {
    happened: 'No key was sent, or it is unknown, revoked, or was replaced by rotation.',
    todo: 'Send `Authorization: Bearer KEY`. `gazeway key list` shows the keys; `gazeway key create` makes one.',
  },
  key_expired: {
    happened: 'The end of the key has passed.',
    todo: 'An admin moves it: `gazeway key edit ID --expires 90d`. The key then works again.',
  },
  invalid_ticket: {
    happened: 'The ticket for the socket is unknown, was used, or is older than a minute.',
    todo: 'Get a new one with `POST /api/connections`, and connect at once.',
  },
  insufficient_credit: {
    happened: 'The most that the call can cost is more than the deposits and the credit of the key. Nothing was asked.',
    todo: 'Deposit (`POST /api/wallet/metered/deposit`), ask for less with `max_tokens`, or have the credit raised.',
  },
  payment_required: {
    happened: 'The request needs a payment, or its payment was not accepted.',
    todo: 'Answer the challenge in `WWW-Authenticate` with an MPP client, or send an API key.',
  },
  budget_reached: {
    happened:
      'A budget of the key or of its group has less left than the call can cost at most. In a stream: the answer outgrew what was reserved.',
    todo: 'Wait until the budget resets, ask for less with `max_tokens`, or have it raised: `gazeway key edit ID --budget 10/day`.',
  },
  insufficient_scope: {
    happened: 'The key does not have the scope that this address asks for: `inference`, `platform` or `admin`.',
    todo: 'Use another key, or make one: `gazeway key create --scope inference,platform`.',
  },
  model_not_allowed: {
    happened: 'The key may use only some models, and this one or a target of its route is not among them.',
    todo: 'Ask an allowed model, or have the list changed: `gazeway key edit ID --models GLOBS`.',
  },
  forbidden: {
    happened: 'The key is in force, but what it asked for belongs to another key or to admins.',
    todo: 'Use the key of the owner, such as that of the task’s creator or claimant, or an admin’s.',
  },
  gaze_verification_failed: {
    happened: 'The attestation does not prove a person’s attention to this task. Nothing has changed.',
    todo: 'The message lists the reasons. Store gaze of the right key and time, and try again with its attestation.',
  },
  forbidden_path: {
    happened: 'The path is outside the project, or is not among those that may be called.',
    todo: 'Stay below the project’s folder; for the provider’s API add the path to `upstream.allowed_paths`.',
  },
  forbidden_origin: {
    happened: 'The `Host` or `Origin` of the request is not served. This keeps foreign web pages out.',
    todo: 'Call by the address that the service listens on, or add the name to `http.allowed_hosts` or `http.allowed_origins`.',
  },
  not_found: {
    happened: 'Nothing is at this address, or nothing that this key may see.',
    todo: 'Check the path and the id. `GET /openapi.json` on the platform lists all routes.',
  },
  model_not_found: {
    happened: 'No upstream with a key serves the model.',
    todo: 'Take the name that the message suggests or one of `GET /v1/models`, or set the key of its provider.',
  },
  unknown_tool: {
    happened: 'There is no such tool, or it is not offered (`--tools`, `--read-only`).',
    todo: 'Take one that `tools/list` names, or change `mcp.tools`.',
  },
  method_not_allowed: {
    happened: 'The path exists, but not with this method.',
    todo: 'Use a method of the `allow` header.',
  },
  request_timeout: {
    happened: 'The request did not arrive in time.',
    todo: 'Send it again. For slow connections raise `http.request_timeout_ms`.',
  },
  conflict: {
    happened: 'What was asked does not fit how things stand, such as a name that is taken.',
    todo: 'The message says what is in the way. Read the present state, and decide again.',
  },
  balance_too_large: {
    happened: 'The account would hold or owe more than about 9 billion USD. Nothing was moved.',
    todo: 'Move a smaller amount, or use another account.',
  },
  invalid_transition: {
    happened: 'The task or the escrow is in a status from which this cannot be done.',
    todo: 'Read it again: `GET /api/tasks/ID` or `GET /api/wallet/escrow/ID`. docs/reference/tasks.md draws the statuses.',
  },
  task_not_completed: {
    happened: 'An escrow is released once its task is completed, and it is not.',
    todo: 'Complete the task first, or refund the escrow.',
  },
  recipient_fixed: {
    happened: 'The escrow pays somebody else, who was fixed when it was locked or when the task was completed.',
    todo: 'Leave `recipient` out, or send the one that the escrow shows.',
  },
  version_conflict: {
    happened: 'Somebody changed the memory after you read it: its version is not `if_version`.',
    todo: 'Recall it, and decide again with its version.',
  },
  session_exists: {
    happened: 'A session with this id is there already.',
    todo: 'Use it, or take another id.',
  },
  session_busy: {
    happened: 'Earlier messages of the session are still being answered. This one was not sent.',
    todo: 'Wait for their replies, and send it again.',
  },
  idempotency_in_flight: {
    happened: 'The first request with this `Idempotency-Key` is still being worked on.',
    todo: 'Send the same request again in a moment: it gets the first reply.',
  },
  idempotency_reply_not_kept: {
    happened: 'The request has been carried out before. Its reply holds a secret or is over 1 MiB, so it was not kept.',
    todo: 'Look at what it made; the message names it. Where a secret was lost, revoke or rotate the key.',
  },
  payload_too_large: {
    happened: 'The body, prompt or value is larger than allowed.',
    todo: 'Send less. The message names the limit, such as `http.max_body_bytes`.',
  },
  unsupported_media_type: {
    happened: 'The body has another content type than JSON in UTF-8, or is compressed.',
    todo: 'Send `content-type: application/json`, uncompressed.',
  },
  expectation_failed: {
    happened: 'The `Expect` header asks for something other than `100-continue`.',
    todo: 'Leave the header out.',
  },
  validation_failed: {
    happened: 'A field is missing, unknown, or has a value that is not accepted. `param` names it.',
    todo: 'The message says what is accepted there.',
  },
  idempotency_key_reused: {
    happened: 'This `Idempotency-Key` came with another request before.',
    todo: 'Use a new key for each request, and the same one only to repeat a request.',
  },
  rate_limited: {
    happened: 'The key, or the address, has made as many requests in this minute as it may.',
    todo: 'Wait for `retry-after`. The limits are `http.rate_limit.requests_per_minute` and `mpp.requests_per_minute`.',
  },
  too_many_requests: {
    happened:
      'A limit of the key by the minute or of calls at a time is reached, or the service has too much under way.',
    todo: 'Wait for `retry-after`, or have the limits of the key raised.',
  },
  header_too_large: {
    happened: 'The headers are over 16 KiB.',
    todo: 'Send fewer or shorter ones; cookies are never needed.',
  },
  cancelled: {
    happened: 'The client went away, or cancelled the call.',
    todo: 'Nothing: nobody waits for the answer. A call without an answer is not charged.',
  },
  internal_error: {
    happened: 'Gazeway itself failed.',
    todo: 'Look for the `request_id` in its log, and report what it says there.',
  },
  service_stopping: {
    happened: 'The service was told to stop before the answer was complete.',
    todo: 'Send it again once it is back, with the same `Idempotency-Key` where there was one.',
  },
  payments_paused: {
    happened:
      'The account that settles payments has no gas, or payments have cost their limit for this hour. No money was moved.',
    todo: 'Try again later. The operator finds the reason with `gazeway doctor`.',
  },
  store_unavailable: {
    happened: 'The store did not answer: the data folder cannot be written, or PostgreSQL cannot be reached.',
    todo: 'Try again. If it stays so, `gazeway doctor` says why.',
  },
  store_full: {
    happened: 'There is no room left for the store.',
    todo: 'Free some space, or name another folder with `--data`. Nothing that was acknowledged is lost.',
  },
  store_too_new: {
    happened: 'The store was written by a newer version of Gazeway.',
    todo: 'Start that version, or restore a backup of this one.',
  },
  store_corrupt: {
    happened: 'The file of the store is damaged, or is no store.',
    todo: 'Stop everything that uses it, and restore a backup: docs/guides/operate.md.',
  },
  config_invalid: {
    happened: 'The configuration is not valid, or is not complete for what is switched on.',
    todo: 'The message names the field and what is accepted. `gazeway doctor` checks all of it.',
  },
  upstream_not_configured: {
    happened: 'The provider of models needs a key, and none is set.',
    todo: 'Export its variable where Gazeway starts, such as `XAI_API_KEY`, or start with `--upstream sandbox`.',
  },
  upstream_error: {
    happened:
      'The provider refused the call, or reported an error in place of an answer. Its reason is in the message.',
    todo: 'Change what it names, or try again. `gateway_upstream_api_history` has the record of the call.',
  },
  upstream_unreachable: {
    happened:
      'There is no connection to the provider, or it failed ten times in a row and its circuit breaker is open.',
    todo: 'Check the address and the network with `gazeway doctor`, wait for `retry-after`, or add a fallback: docs/guides/routes.md.',
  },
  upstream_bad_reply: {
    happened: 'The provider’s reply broke off, is too large, or makes no sense.',
    todo: 'Try again. If it stays so, check that the base URL speaks the configured `upstream.protocol`.',
  },
  upstream_timeout: {
    happened: 'The provider, or the chain, was silent for too long.',
    todo: 'Try again, or raise `upstream.timeout_ms`.',
  },
  loop_detected: {
    happened: 'The request has passed through this Gazeway before.',
    todo: 'Check `upstream.provider` and `agent_gateway.url`: one of them leads back here.',
  },
}

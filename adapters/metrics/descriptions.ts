/** Type of a metric, as Prometheus names it. */
export type MetricType = 'counter' | 'gauge' | 'histogram'

/** Description of one metric. */
export interface Description {
  type: MetricType
  /** Unit of its values. */
  unit: string
  labels: readonly string[]
  help: string
  /** Upper bounds of the buckets of a histogram, ascending. */
  buckets?: readonly number[]
  /** True when its labels name keys, which only admins see. */
  namesKeys?: boolean
  /** Name in OpenTelemetry's conventions for generative AI. By default its own. */
  otlp?: string
}

/** Bounds of durations in seconds, from a reply without a model to a long stream. */
const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120]
/** Bounds of `gen_ai.client.inference.duration` and `…time_to_first_chunk` in the GenAI conventions, in seconds. */
const MODEL_SECONDS = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92]
/** Reciprocals of the bounds of `gen_ai.server.time_per_output_token` there, and faster ones. */
const TOKENS_PER_SECOND = [0.4, 1, 2, 2.5, 5, 10, 20, 40, 100, 200, 400, 1000]

const OF_MODEL = ['upstream', 'provider', 'model', 'operation'] as const

/** All metrics of the service besides those of Node and the process. Everything else derives from it. */
export const METRICS = {
  gazeway_build_info: {
    type: 'gauge',
    unit: '1',
    labels: ['version'],
    help: 'Build information: the version is a label, the value is always 1.',
  },
  gazeway_draining: {
    type: 'gauge',
    unit: '0 or 1',
    labels: [],
    help: 'Whether the process is stopping and takes no new clients.',
  },
  gazeway_http_requests_in_flight: { type: 'gauge', unit: 'requests', labels: [], help: 'Requests in progress.' },
  gazeway_http_requests_total: {
    type: 'counter',
    unit: 'requests',
    labels: ['service', 'route', 'method', 'status'],
    help: 'Completed requests, by service (gateway, platform), matched route, method and status; 499 when the client closed the connection before a reply.',
  },
  gazeway_http_request_duration_seconds: {
    type: 'histogram',
    unit: 's',
    labels: ['service', 'route', 'method', 'status_class'],
    help: 'Duration of requests from their headers to the end of the reply, streams included.',
    buckets: SECONDS,
  },
  gazeway_sockets: {
    type: 'gauge',
    unit: 'sockets',
    labels: ['kind'],
    help: 'Open WebSockets: of agents, and of the Responses API.',
  },
  gazeway_upstream_calls_total: {
    type: 'counter',
    unit: 'calls',
    labels: ['upstream', 'provider', 'model', 'path', 'outcome'],
    help: 'Completed upstream calls, by upstream, requested model, path and outcome (ok, error, aborted by the client, hedged).',
  },
  gazeway_upstream_errors_total: {
    type: 'counter',
    unit: 'calls',
    labels: ['upstream', 'provider', 'path', 'http_status'],
    help: 'Failed upstream calls, by HTTP status; none without an answer.',
  },
  gazeway_call_duration_seconds: {
    type: 'histogram',
    unit: 's',
    labels: [...OF_MODEL, 'outcome'],
    help: 'Duration of upstream calls, to the end of the answer.',
    buckets: MODEL_SECONDS,
    otlp: 'gen_ai.client.inference.duration',
  },
  gazeway_first_token_seconds: {
    type: 'histogram',
    unit: 's',
    labels: OF_MODEL,
    help: 'Time to the first token of a streamed upstream answer.',
    buckets: MODEL_SECONDS,
    otlp: 'gen_ai.client.inference.time_to_first_chunk',
  },
  gazeway_output_tokens_per_second: {
    type: 'histogram',
    unit: 'tokens/s',
    labels: OF_MODEL,
    help: 'Speed of streamed upstream answers after their first token.',
    buckets: TOKENS_PER_SECOND,
  },
  gazeway_tokens_total: {
    type: 'counter',
    unit: 'tokens',
    labels: ['upstream', 'provider', 'model', 'kind'],
    help: 'Tokens of upstream calls, as reported by the upstream, else as estimated: prompt and completion; of the prompt, cached (read from the cache) and cache_write.',
  },
  gazeway_upstream_cost_usd_total: {
    type: 'counter',
    unit: 'USD',
    labels: ['upstream', 'provider', 'model'],
    help: 'Cost of upstream calls in US dollars, at the configured prices.',
  },
  gazeway_fallbacks_total: {
    type: 'counter',
    unit: 'calls',
    labels: [],
    help: 'Fallback calls, made after another call failed.',
  },
  gazeway_hedges_total: {
    type: 'counter',
    unit: 'calls',
    labels: ['upstream', 'winner'],
    help: 'Overtaken calls, by their upstream and by who answered first: the slow first call or the hedge beside it.',
  },
  gazeway_skipped_candidates_total: {
    type: 'counter',
    unit: 'candidates',
    labels: ['upstream', 'reason'],
    help: 'Candidates that calls passed over: circuit_open or keys_resting.',
  },
  gazeway_refused_calls_total: {
    type: 'counter',
    unit: 'calls',
    labels: ['http_status'],
    help: 'Calls refused before reaching an upstream, by HTTP status.',
  },
  gazeway_client_calls_total: {
    type: 'counter',
    unit: 'calls',
    labels: ['client'],
    help: 'Upstream calls by coding agent; other for clients that are not known.',
  },
  gazeway_client_cost_usd_total: {
    type: 'counter',
    unit: 'USD',
    labels: ['client'],
    help: 'Cost of upstream calls in US dollars, by coding agent.',
  },
  gazeway_key_calls_total: {
    type: 'counter',
    unit: 'calls',
    labels: ['key', 'upstream', 'outcome'],
    help: 'Upstream calls by the name of the key; other for wallets, for keys after the first 200, and without a key.',
    namesKeys: true,
  },
  gazeway_key_call_seconds_total: {
    type: 'counter',
    unit: 's',
    labels: ['key', 'upstream'],
    help: 'Sum of the durations of upstream calls by the name of the key. Divided by the calls it is their mean.',
    namesKeys: true,
  },
  gazeway_key_cost_usd_total: {
    type: 'counter',
    unit: 'USD',
    labels: ['key', 'upstream'],
    help: 'Cost of upstream calls in US dollars, by the name of the key.',
    namesKeys: true,
  },
  gazeway_charge_overruns_total: {
    type: 'counter',
    unit: 'calls',
    labels: [],
    help: 'Calls whose reported cost exceeded their reservation.',
  },
  gazeway_charge_overrun_usd_total: {
    type: 'counter',
    unit: 'USD',
    labels: [],
    help: 'Reported cost above reservations in US dollars.',
  },
  gazeway_charge_absorbed_usd_total: {
    type: 'counter',
    unit: 'USD',
    labels: [],
    help: 'Cost in US dollars that the operator bears for charged callers.',
  },
  gazeway_circuits_open: {
    type: 'gauge',
    unit: 'circuits',
    labels: ['upstream', 'provider', 'model', 'scope'],
    help: 'Open circuit breakers in this process, by model; all is the connection to the upstream. Scope everyone, or one_key whose requests failed.',
  },
  gazeway_keys_resting: {
    type: 'gauge',
    unit: 'keys',
    labels: ['upstream', 'provider'],
    help: 'Keys of an upstream that cool down after a refusal, in this process.',
  },
  gazeway_upstream_keys: {
    type: 'gauge',
    unit: 'keys',
    labels: ['upstream', 'provider'],
    help: 'Configured keys of an upstream.',
  },
  gazeway_money_left_usd: {
    type: 'gauge',
    unit: 'USD',
    labels: ['key', 'kind', 'of'],
    help: 'Money left of the keys and groups that run out first: of their tightest budget, and of their balance with credit.',
    namesKeys: true,
  },
  gazeway_money_limit_usd: {
    type: 'gauge',
    unit: 'USD',
    labels: ['key', 'kind', 'of'],
    help: 'Size of that budget, and the credit limit of that balance.',
    namesKeys: true,
  },
  gazeway_money_lasts_seconds: {
    type: 'gauge',
    unit: 's',
    labels: ['key', 'kind'],
    help: 'Time until a key or group has no money left, at its rate of the last day; absent when it lasts until its budget resets.',
    namesKeys: true,
  },
  gazeway_debt_usd: {
    type: 'gauge',
    unit: 'USD',
    labels: ['key', 'kind'],
    help: 'Usage beyond reservations that budget or credit did not hold.',
    namesKeys: true,
  },
  gazeway_queue_length: {
    type: 'gauge',
    unit: 'entries',
    labels: ['queue'],
    help: 'Waiting entries: call_records of this process, webhooks that are due or retried, payments on a chain (outbox).',
  },
  gazeway_queue_oldest_seconds: {
    type: 'gauge',
    unit: 's',
    labels: ['queue'],
    help: 'Age of the oldest entry of a queue; 0 when it is empty.',
  },
  gazeway_webhooks_given_up: {
    type: 'gauge',
    unit: 'messages',
    labels: [],
    help: 'Messages to the webhook that are not retried any more, of the last 40 days.',
  },
  gazeway_sweep_overdue_seconds: {
    type: 'gauge',
    unit: 's',
    labels: ['sweep'],
    help: 'How long a recurring task of the store is overdue.',
  },
  gazeway_store_up: { type: 'gauge', unit: '0 or 1', labels: [], help: 'Whether the store answered this scrape.' },
  gazeway_store_connections: {
    type: 'gauge',
    unit: 'connections',
    labels: ['state'],
    help: 'Connections to PostgreSQL, used and idle, and requests that wait for one; nothing on SQLite.',
  },
  gazeway_store_connections_max: {
    type: 'gauge',
    unit: 'connections',
    labels: [],
    help: 'Size of the pool of connections to PostgreSQL; absent on SQLite.',
  },
  gazeway_tasks: { type: 'gauge', unit: 'tasks', labels: ['status'], help: 'Tasks by status.' },
  gazeway_escrows: { type: 'gauge', unit: 'escrows', labels: ['status'], help: 'Escrows by status.' },
} as const satisfies Readonly<Record<string, Description>>

/** Name of a metric. */
export type MetricName = keyof typeof METRICS

/** Names of the metrics of one type. */
export type NameOf<Type extends MetricType> = {
  [Name in MetricName]: (typeof METRICS)[Name]['type'] extends Type ? Name : never
}[MetricName]

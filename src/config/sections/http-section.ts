import * as z from 'zod'
import { isNetwork, isOrigin } from '../addresses.ts'
import { section } from './section.ts'
import { host, milliseconds, port } from './setting-values.ts'

/** Times that connections, requests and a stop may take. */
const times = () => ({
  keep_alive_ms: milliseconds.default(75_000).meta({
    description:
      'How long an idle connection stays open. Must be longer than a load balancer in front keeps it: 620000 for one that idles 600 s.',
    restart: true,
  }),
  unready_ms: z.int().min(0).max(600_000).default(5_000).meta({
    variable: 'GAZEWAY_UNREADY_MS',
    description:
      'How long the services go on at a stop while /readyz answers 503, so that load balancers notice. Skipped where nobody has asked /readyz since the start.',
  }),
  drain_ms: z.int().min(1_000).max(86_400_000).default(30_000).meta({
    variable: 'GAZEWAY_DRAIN_MS',
    description:
      'Time that answers in progress get to finish at a stop, after the services have stopped to listen. The rest ends with service_stopping.',
  }),
  header_timeout_ms: milliseconds
    .default(10_000)
    .meta({ description: 'Timeout for the headers of a request.', restart: true }),
  request_timeout_ms: milliseconds.default(60_000).meta({ description: 'Timeout for a whole request.', restart: true }),
})

/** Limit of requests, beside those of each key. */
const rateLimit = () =>
  z
    .strictObject({
      requests_per_minute: z
        .int()
        .min(1)
        .max(1_000_000)
        .nullable()
        .default(null)
        .describe(
          'Requests per minute of one key to each service, of any kind; null: no limit. Each process counts for itself: it guards the process against a flood, and asking the store about each request would be a flood there. The limits of a key (requests_per_minute) hold over all processes.',
        ),
    })
    .prefault({})

/** Addresses and limits of the HTTP services. */
export const httpSection = section(() => ({
  host: host
    .default('127.0.0.1')
    .meta({ variable: 'GAZEWAY_HOST', flag: '--host', description: 'The address to listen on.', restart: true }),
  port: port.default(8811).meta({
    variable: 'GAZEWAY_PORT',
    flag: '--port',
    description: 'Port of the gateway; 0 selects a free port.',
    restart: true,
  }),
  platform_port: port.default(8812).meta({
    variable: 'GAZEWAY_PLATFORM_PORT',
    flag: '--platform-port',
    description: 'Port of the platform, socket and console; 0 selects a free port.',
    restart: true,
  }),
  max_body_bytes: z
    .int()
    .min(1024)
    .max(1024 ** 3)
    .default(4 * 1024 * 1024)
    .describe('Maximum size of a request body, in bytes, except below /v1.'),
  max_model_body_bytes: z
    .int()
    .min(1024)
    .max(1024 ** 3)
    .default(32 * 1024 * 1024)
    .describe("Maximum size of a request body below /v1, in bytes. The default is that of Anthropic's API."),
  max_buffered_bytes: z
    .int()
    .min(1024)
    .max(64 * 1024 ** 3)
    .default(128 * 1024 * 1024)
    .describe(
      'Maximum size of all request bodies over 64 KiB together while their calls last, in bytes; a key may hold half of it. A body that does not fit is refused with 503. The process takes up to five times as much memory: bytes, text, JSON and what is sent on.',
    ),
  allowed_hosts: z.array(host).max(200).default([]).describe('Allowed host names besides the loopback ones.'),
  allowed_origins: z
    .array(
      z.string().refine(isOrigin, 'not an origin').meta({ accepted: 'an origin such as https://console.example.com' }),
    )
    .max(200)
    .default([])
    .describe("Allowed CORS origins besides the service's own."),
  trusted_proxies: z
    .array(
      z
        .string()
        .refine(isNetwork, 'not a network')
        .meta({ accepted: 'an IP address, or a network such as 10.0.0.0/8 or fd00::/8' }),
    )
    .max(200)
    .default([])
    .describe(
      'Proxies in front of the service, by address or network. The address of a client behind them is read from ' +
        'X-Forwarded-For; otherwise it is that of the TCP connection.',
    ),
  ...times(),
  metrics_keys: z
    .int()
    .min(1)
    .max(1000)
    .default(20)
    .describe('Keys and groups whose money and debts /metrics has: those that run out first.'),
  rate_limit: rateLimit(),
}))

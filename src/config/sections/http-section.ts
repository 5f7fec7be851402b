import * as z from 'zod'
import { isOrigin } from '../addresses.ts'
import { host, milliseconds, port } from './setting-values.ts'

/** Addresses and limits of the HTTP services. */
export const Http = z.strictObject({
  host: host
    .default('127.0.0.1')
    .meta({ variable: 'GAZEWAY_HOST', flag: '--host', description: 'The address to listen on.', restart: true }),
  port: port.default(8811).meta({
    variable: 'GAZEWAY_PORT',
    flag: '--port',
    description: 'The port of the gateway; 0 takes a free one.',
    restart: true,
  }),
  platform_port: port.default(8812).meta({
    variable: 'GAZEWAY_PLATFORM_PORT',
    flag: '--platform-port',
    description: 'The port of the platform, socket and console; 0 takes a free one.',
    restart: true,
  }),
  max_body_bytes: z
    .int()
    .min(1024)
    .max(1024 ** 3)
    .default(4 * 1024 * 1024)
    .describe('The largest request body, in bytes.'),
  allowed_hosts: z
    .array(host)
    .max(200)
    .default([])
    .describe('Host names, beside the loopback ones, that requests may be addressed to.'),
  allowed_origins: z
    .array(
      z.string().refine(isOrigin, 'not an origin').meta({ accepted: 'an origin such as https://console.example.com' }),
    )
    .max(200)
    .default([])
    .describe("Web origins, beside the service's own, whose pages may call it."),
  header_timeout_ms: milliseconds
    .default(10_000)
    .meta({ description: 'How long a client may take to send its headers.', restart: true }),
  request_timeout_ms: milliseconds
    .default(60_000)
    .meta({ description: 'How long a client may take to send a whole request.', restart: true }),
  rate_limit: z
    .strictObject({
      requests_per_minute: z
        .int()
        .min(1)
        .max(1_000_000)
        .nullable()
        .default(null)
        .describe('Requests that one key may make of each service in a minute; null is no limit.'),
    })
    .prefault({}),
})

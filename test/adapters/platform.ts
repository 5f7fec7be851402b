import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { serveHttp } from '../../adapters/http/http.ts'
import { openMetrics } from '../../adapters/metrics/metrics.ts'
import { servePlatform } from '../../adapters/platform/platform.ts'
import { createReadiness } from '../../adapters/web/readiness.ts'
import { agentGatewayTarget } from '../../src/agent-gateway/target.ts'
import { loadConfig } from '../../src/config/config.ts'
import { createLog } from '../../src/config/log.ts'
import { createGateway, type Gateway } from '../../src/gateway.ts'
import { createPasses } from '../../src/identity/passes.ts'
import { withOwnNames } from '../doubles/own-names.ts'
import { until } from '../doubles/until.ts'
import { putEmptyStore } from '../store/empty-store.ts'

/** A platform in this process, on a free port and a fresh store, with a gateway over HTTP behind it. */
export interface RunningPlatform {
  /** `http://127.0.0.1:PORT` */
  url: string
  /** A key with the scope `platform`, and its id. */
  key: string
  keyId: string
  /** A key with the scope `admin`. */
  admin: string
  gateway: Gateway
  /** URL of the gateway over HTTP. */
  gatewayUrl: string
  /** The lines that were logged. */
  logged: string[]
  /** Stops the platform alone. @returns what serves it again; at the same address where `platformPort` was given */
  pause(): Promise<() => Promise<void>>
  close(): Promise<void>
}

/**
 * @param upstream a base URL, or `sandbox`
 * @param options.document what config.json holds
 * @param options.withHttp whether the gateway over HTTP runs in this process, too; true when absent
 */
export async function startPlatform(
  upstream: string,
  options: {
    env?: Record<string, string>
    document?: Record<string, unknown>
    withHttp?: boolean
    consoleFolder?: string
    platformPort?: number
  } = {},
): Promise<RunningPlatform> {
  const { env = {}, document = {}, withHttp = true, platformPort = 0, consoleFolder } = options
  const folder = mkdtempSync(join(tmpdir(), 'gazeway-'))
  writeFileSync(join(folder, 'config.json'), JSON.stringify(withOwnNames(upstream, document)))
  const loaded = await loadConfig({
    env: { GAZEWAY_UPSTREAM_API_KEY: 'upstream-secret-key', ...env },
    flags: { data: folder, upstream, port: '0', platformPort: String(platformPort) },
  })
  const logged: string[] = []
  const log = createLog({
    level: 'debug',
    secrets: () => loaded.secrets,
    destination: { write: (line) => void logged.push(line) },
  })
  await putEmptyStore(folder)
  const gateway = await createGateway(loaded, log)
  const { key, record } = await gateway.keys.create({
    name: 'test',
    scopes: ['platform'],
    limits: { credit_limit_usd: 10 },
  })
  const { key: admin } = await gateway.keys.create({ name: 'admin', scopes: ['admin'] })
  const passes = createPasses()
  const readiness = createReadiness(gateway.store, 'ready')
  const metrics = openMetrics(gateway, readiness)
  const http = withHttp ? await serveHttp(gateway, passes, readiness, metrics) : null
  const agentGateway = agentGatewayTarget(loaded.config, http && { url: http.url, passes })
  const serving = () =>
    servePlatform(gateway, {
      agentGateway,
      readiness,
      metrics,
      ...(consoleFolder && { consoleFolder }),
    })
  let platform = await serving().catch(async (error) => {
    // Nobody gets what would close them.
    await http?.stop()
    await gateway.close()
    throw error
  })
  return {
    url: platform.url,
    key,
    keyId: record.id,
    admin,
    gateway,
    gatewayUrl: http?.url ?? '',
    logged,
    async pause() {
      await platform.stop()
      return async () => {
        // Meanwhile the system may have lent the port to a connection of another test.
        platform = await until(() => serving().catch(nullIfPortIsTaken), { what: 'the port of the platform' })
      }
    },
    async close() {
      await platform.stop()
      await http?.stop()
      await gateway.close()
      rmSync(folder, { recursive: true })
    },
  }
}

/** Asks a platform, with its own key unless `key` says otherwise; JSON goes as JSON. */
export function ask(
  platform: RunningPlatform,
  method: string,
  path: string,
  {
    key = platform.key,
    body,
    headers = {},
  }: { key?: string | null; body?: unknown; headers?: Record<string, string> } = {},
): Promise<Response> {
  return fetch(platform.url + path, {
    method,
    headers: {
      ...(key === null ? {} : { authorization: `Bearer ${key}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
}

/** The error in a reply. */
export async function errorOf(
  reply: Response,
): Promise<{ code: string; message: string; type: string; param: string | null }> {
  const { error } = (await reply.json()) as { error: Awaited<ReturnType<typeof errorOf>> }
  return error
}

function nullIfPortIsTaken(error: unknown): null {
  if (error instanceof Error && error.message.includes('is in use')) return null
  throw error
}

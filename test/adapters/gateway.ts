import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { serveHttp } from '../../adapters/http/http.ts'
import { startTracing } from '../../adapters/http/tracing.ts'
import { openMetrics } from '../../adapters/metrics/metrics.ts'
import { createReadiness } from '../../adapters/web/readiness.ts'
import { loadConfig } from '../../src/config/config.ts'
import { createLog } from '../../src/config/log.ts'
import { createGateway, type Gateway } from '../../src/gateway.ts'
import { withOwnNames } from '../doubles/own-names.ts'
import { putEmptyStore } from '../store/empty-store.ts'

/** A gateway over HTTP in this process, on a free port and a fresh store. */
export interface RunningGateway {
  /** `http://127.0.0.1:PORT` */
  url: string
  /** A key with the scope `inference`. */
  key: string
  gateway: Gateway
  /** The lines that were logged. */
  logged: string[]
  close(): Promise<void>
}

/** @param upstream a base URL, or `sandbox`; null for what `document` names @param config what config.json would hold, by environment-like dotted keys */
export async function startGateway(
  upstream: string | null,
  env: Record<string, string> = {},
  document: Record<string, unknown> = {},
): Promise<RunningGateway> {
  const folder = mkdtempSync(join(tmpdir(), 'gazeway-'))
  writeFileSync(join(folder, 'config.json'), JSON.stringify(withOwnNames(upstream, document)))
  const loaded = await loadConfig({
    env: { GAZEWAY_UPSTREAM_API_KEY: 'upstream-secret-key', ...env },
    flags: { data: folder, port: '0', ...(upstream === null ? {} : { upstream }) },
  })
  const logged: string[] = []
  const log = createLog({
    level: 'debug',
    secrets: () => loaded.secrets,
    destination: { write: (line) => void logged.push(line) },
  })
  await putEmptyStore(folder)
  const gateway = await createGateway(loaded, log)
  const { key } = await gateway.keys.create({ name: 'test', scopes: ['inference'] })
  const readiness = createReadiness(gateway.store, 'ready')
  const metrics = openMetrics(gateway, readiness)
  const tracing = await startTracing(gateway, process.env, metrics)
  const listening = await serveHttp(gateway, undefined, readiness, metrics)
  return {
    url: listening.url,
    key,
    gateway,
    logged,
    async close() {
      await listening.stop()
      await tracing.stop()
      await gateway.close()
      rmSync(folder, { recursive: true })
    },
  }
}

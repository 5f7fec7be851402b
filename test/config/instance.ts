import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { serveHttp } from '../../adapters/http/http.ts'
import { servePlatform } from '../../adapters/platform/platform.ts'
import { agentGatewayTarget } from '../../src/agent-gateway/target.ts'
import { loadConfig } from '../../src/config/config.ts'
import { createLog } from '../../src/config/log.ts'
import { createGateway, type Gateway } from '../../src/gateway.ts'
import { createPasses } from '../../src/identity/passes.ts'
import { putEmptyStore } from '../store/empty-store.ts'
import { newFolder } from './folder.ts'

/** Both services as an operator starts them: nothing is set by a flag but the ports and the data folder. */
export interface Instance {
  gateway: Gateway
  folder: string
  /** URLs of the platform and the gateway. */
  platformUrl: string
  gatewayUrl: string
  /** An admin's key. */
  admin: string
  logged: string[]
  close(): Promise<void>
}

/** @param options.document what config.json holds; the folder's own stays when absent */
export async function startInstance({
  folder = newFolder(),
  document,
  env = {},
}: {
  folder?: string
  document?: Record<string, unknown>
  env?: Record<string, string>
}): Promise<Instance> {
  if (document) writeFileSync(join(folder, 'config.json'), JSON.stringify(document))
  const loaded = await loadConfig({ env, flags: { data: folder, port: '0', platformPort: '0' } })
  const logged: string[] = []
  const log = createLog({
    level: loaded.config.log.level,
    secrets: () => loaded.secrets,
    destination: { write: (line) => void logged.push(line) },
  })
  await putEmptyStore(folder)
  const gateway = await createGateway(loaded, log)
  const { key: admin } = await gateway.keys.create({
    name: 'admin',
    scopes: ['admin'],
    limits: { credit_limit_usd: 10 },
  })
  const passes = createPasses()
  const http = await serveHttp(gateway, passes)
  const platform = await servePlatform(gateway, {
    agentGateway: agentGatewayTarget(gateway.loaded.config, { url: http.url, passes }),
  })
  return {
    gateway,
    folder,
    admin,
    logged,
    platformUrl: platform.url,
    gatewayUrl: http.url,
    async close() {
      await platform.stop()
      await http.stop()
      await gateway.close()
    },
  }
}

/** Sends JSON with the instance's admin key, and reads the JSON that comes back. */
export async function call(
  url: string,
  key: string,
  { method = 'POST', body, headers = {} }: { method?: string; body?: unknown; headers?: Record<string, string> } = {},
): Promise<{ status: number; body: Record<string, unknown> }> {
  const reply = await fetch(url, {
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  return { status: reply.status, body: (await reply.json()) as Record<string, unknown> }
}

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '../test/doubles/free-port.ts'
import { startProxy } from './http-nginx.ts'
import { portkeyHeaders, startPortkey } from './http-portkey.ts'
import { isInstalled, type Running, startServer } from './http-process.ts'
import { ROOT } from './servers.ts'

/** Something that answers chat completions. */
export interface Target {
  /** 0 for the upstream itself, whose process is of no interest. */
  pid: number
  url: string
  headers: Record<string, string>
}

/** The compared servers: Gazeway with its key, usage and call records, and proxies that only forward requests. */
export type TargetName = 'gazeway' | 'Portkey' | 'nginx'
export type Targets = { gazeway: Target; Portkey: Target; nginx?: Target }

/** The peers before one upstream, and the upstream itself. */
export interface Setting {
  direct: Target
  targets: Targets
  stop(): Promise<void>
}

/** The key of everything that is measured. */
export const KEY = 'bench-key-0123456789'

/** Starts everything that is compared before `upstream`; nginx where it is installed. */
export async function openSetting(folder: string, upstream: Running): Promise<Setting> {
  const servers = {
    gazeway: await startGazeway(join(folder, 'data'), upstream),
    Portkey: await startPortkey(),
    ...(isInstalled('nginx') && { nginx: await startProxy(join(folder, 'nginx'), upstream) }),
  }
  return {
    direct: targetOf(upstream),
    targets: {
      gazeway: targetOf(servers.gazeway),
      Portkey: targetOf(servers.Portkey, portkeyHeaders(upstream)),
      ...(servers.nginx && { nginx: targetOf(servers.nginx) }),
    },
    async stop() {
      await Promise.all(Object.values(servers).map((server) => server.stop()))
      await upstream.stop()
    },
  }
}

/**
 * The gateway as it is published.
 *
 * @param settings of its section `upstream`
 * @param more its other sections
 * @param of.root a built checkout: this one, or an earlier one to compare with
 * @param of.node the command that runs it
 */
export async function startGazeway(
  data: string,
  upstream: Running,
  settings: object = {},
  more: object = {},
  { root = ROOT, node = process.execPath }: { root?: string; node?: string } = {},
): Promise<Running> {
  const port = await freePort()
  mkdirSync(data, { recursive: true, mode: 0o700 })
  writeFileSync(join(data, 'config.json'), JSON.stringify({ upstream: settings, ...more }))
  const env = { GAZEWAY_UPSTREAM: `http://127.0.0.1:${upstream.port}/v1`, GAZEWAY_API_KEY: KEY }
  const args = [join(root, 'dist/cli.js'), '--http', '--port', String(port), '--data', data]
  return startServer(node, args, { port, env })
}

/** A server as a target. @param path its endpoint */
export function targetOf(
  { pid, port }: Running,
  headers: Record<string, string> = {},
  path = '/v1/chat/completions',
): Target {
  const url = `http://127.0.0.1:${port}${path}`
  return { pid, url, headers: { 'content-type': 'application/json', authorization: `Bearer ${KEY}`, ...headers } }
}

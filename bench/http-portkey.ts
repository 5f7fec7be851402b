import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '../test/doubles/free-port.ts'
import { type Running, startServer } from './http-process.ts'
import { ROOT } from './servers.ts'

/** Its streams fail with later versions of hono. */
const VERSIONS = { '@portkey-ai/gateway': '1.15.2', hono: '4.9.7', '@hono/node-server': '1.13.5' }
const FOLDER = join(ROOT, '.bench/portkey')
const SERVER = join(FOLDER, 'node_modules/@portkey-ai/gateway/build/start-server.js')

/** Installs Portkey's gateway from npm into a folder of its own that git ignores, once. */
export function installPortkey(): void {
  if (existsSync(SERVER)) return
  process.stderr.write(`installing Portkey's gateway into ${FOLDER} …\n`)
  mkdirSync(FOLDER, { recursive: true })
  const { hono, '@hono/node-server': nodeServer } = VERSIONS
  const overrides = { hono, '@hono/node-server': nodeServer }
  const manifest = { name: 'gazeway-bench-portkey', private: true, dependencies: VERSIONS, overrides }
  writeFileSync(join(FOLDER, 'package.json'), JSON.stringify(manifest, null, 2))
  execFileSync('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: FOLDER, stdio: 'ignore' })
}

/** Portkey's gateway as its documentation runs it on Node. @param node the command that runs it */
export async function startPortkey(node = process.execPath): Promise<Running> {
  const port = await freePort()
  return startServer(node, [SERVER, '--headless', `--port=${port}`], {
    port,
    env: { NODE_ENV: 'production' },
  })
}

/** The headers that send a request on to a provider of one's own that speaks OpenAI's API. */
export function portkeyHeaders(upstream: Running): Record<string, string> {
  return { 'x-portkey-provider': 'openai', 'x-portkey-custom-host': `http://127.0.0.1:${upstream.port}/v1` }
}

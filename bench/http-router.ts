import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '../test/doubles/free-port.ts'
import { type Running, startServer } from './http-process.ts'
import { ROOT } from './servers.ts'

const VERSION = '2.0.0'
const FOLDER = join(ROOT, '.bench/claude-code-router')
const SERVER = join(FOLDER, 'node_modules/@musistudio/claude-code-router/dist/cli.js')

/** Installs claude-code-router from npm into a folder of its own that git ignores, once. */
export function installRouter(): void {
  if (existsSync(SERVER)) return
  process.stderr.write(`installing claude-code-router into ${FOLDER} …\n`)
  mkdirSync(FOLDER, { recursive: true })
  const manifest = {
    name: 'gazeway-bench-router',
    private: true,
    dependencies: { '@musistudio/claude-code-router': VERSION },
  }
  writeFileSync(join(FOLDER, 'package.json'), JSON.stringify(manifest, null, 2))
  execFileSync('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: FOLDER, stdio: 'ignore' })
}

/** It converts Messages to chat completions of one provider, without logs. @param home a folder for its configuration */
export async function startRouter(home: string, upstream: Running, key: string): Promise<Running> {
  const port = await freePort()
  const folder = join(home, '.claude-code-router')
  mkdirSync(folder, { recursive: true })
  const config = {
    HOST: '127.0.0.1',
    PORT: port,
    APIKEY: key,
    LOG: false,
    NON_INTERACTIVE_MODE: true,
    Providers: [
      {
        name: 'bench',
        api_base_url: `http://127.0.0.1:${upstream.port}/v1/chat/completions`,
        api_key: 'none',
        models: ['m'],
      },
    ],
    Router: { default: 'bench,m' },
  }
  writeFileSync(join(folder, 'config.json'), JSON.stringify(config))
  return startServer(process.execPath, [SERVER, 'start'], { port, env: { HOME: home, NODE_ENV: 'production' } })
}

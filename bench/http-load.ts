import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { temporaryFolder } from './folder.ts'
import { isInstalled } from './http-process.ts'
import type { Target } from './http-targets.ts'
import { ROOT } from './servers.ts'

const run = promisify(execFile)

/** The result of a load test. */
export interface LoadResult {
  requests: number
  perSecond: number
  p99Ms: number
}

/** Size of a load. Each connection sends its next request once it has the whole reply. */
export interface Load {
  body: string
  connections: number
  seconds: number
}

/** Load generator: wrk if it is installed, because one in Node takes much of a core from the measured process. */
export const GENERATOR = isInstalled('wrk') ? 'wrk' : 'autocannon'

/** Sends a load. @throws Error when a request fails, for nothing is measured then */
export async function sendLoad(target: Target, load: Load): Promise<LoadResult> {
  const { failed, ...result } = await (GENERATOR === 'wrk' ? sendByWrk(target, load) : sendByAutocannon(target, load))
  if (failed > 0) throw new Error(`${failed} of ${result.requests} requests to ${target.url} failed.`)
  return result
}

type Counted = LoadResult & { failed: number }

/** Folder of what the generator reads; made with the first load. */
let folder: string | undefined

/** Writes a file for the generator: a large body is too long for an argument. */
function inputFile(name: string, text: string): string {
  folder ??= temporaryFolder('load')
  const file = join(folder, name)
  writeFileSync(file, text)
  return file
}

async function sendByWrk({ url, headers }: Target, { body, connections, seconds }: Load): Promise<Counted> {
  const lines = [
    'wrk.method = "POST"',
    `wrk.body = ${JSON.stringify(body)}`,
    ...Object.entries(headers).map(([name, value]) => `wrk.headers["${name}"] = ${JSON.stringify(value)}`),
    'done = function(summary, latency)',
    '  local e = summary.errors',
    '  local failed = e.connect + e.read + e.write + e.status + e.timeout',
    '  print(string.format("RESULT %d %d %d %d", summary.requests, summary.duration, latency:percentile(99), failed))',
    'end',
  ]
  const script = inputFile('load.lua', lines.join('\n'))
  const args = ['-t1', `-c${connections}`, `-d${seconds}s`, '--timeout', '10s', '-s', script, url]
  const { stdout } = await run('wrk', args)
  const [requests = 0, microseconds = 0, p99 = 0, failed = 0] =
    /RESULT (.+)/.exec(stdout)?.[1]?.split(' ').map(Number) ?? []
  return { requests, perSecond: (requests / microseconds) * 1e6, p99Ms: p99 / 1000, failed }
}

async function sendByAutocannon({ url, headers }: Target, { body, connections, seconds }: Load): Promise<Counted> {
  const named = Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}=${value}`])
  const size = ['-c', String(connections), '-d', String(seconds)]
  const input = ['-i', inputFile('body.json', body)]
  const command = join(ROOT, 'node_modules/autocannon/autocannon.js')
  const { stdout } = await run(process.execPath, [command, '-m', 'POST', ...size, ...named, ...input, '--json', url])
  const { requests, latency, duration, non2xx, errors } = JSON.parse(stdout)
  const { total } = requests
  return { requests: total, perSecond: total / duration, p99Ms: latency.p99, failed: non2xx + errors }
}

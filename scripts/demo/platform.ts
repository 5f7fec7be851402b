import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** How long the start may take, in milliseconds. */
const PATIENCE_MS = 20_000

/**
 * Starts the gateway and the platform of the built command with the sandbox, makes a key, pays for a call with it, and
 * prints the receipt and the usage.
 *
 * @param options.command the built `cli.js`
 * @throws Error when the start or a request fails
 */
export async function showPlatform({ command, dataDir }: { command: string; dataDir: string }): Promise<void> {
  const flags = [
    '--http',
    '--platform',
    '--port',
    '0',
    '--platform-port',
    '0',
    '--upstream',
    'sandbox',
    '--data',
    dataDir,
  ]
  const server = spawn(process.execPath, [command, ...flags, '--log-level', 'error'], {
    stdio: ['ignore', 'inherit', 'pipe'],
  })
  const ended = once(server, 'close')
  try {
    const url = await platformUrl(server.stderr)
    const admin = readFileSync(join(dataDir, 'admin.key'), 'utf8').trim()
    console.log(`\nGazeway’s platform on ${url}, with its gateway behind it and the sandbox for a model.\n`)

    const made = await ask(`${url}/api/keys`, admin, { name: 'demo', scopes: ['platform'] })
    const { key, id } = made as { key: string; id: string }
    console.log(`1. A key was made: ${id}\n`)
    const deposit = { caller_id: id, amount_usd: 1, reference: 'demo' }
    const { available_usd } = await ask(`${url}/api/wallet/metered/deposit`, admin, deposit)
    console.log(`2. Its account was credited: ${available_usd} USD are available.\n`)
    const prompt = 'A saccade is a jump of the eyes; a fixation is the rest between two. What is a fixation?'
    const call = { caller_id: key, model: 'llm-4-1-fast-reasoning', prompt, max_tokens: 60 }
    show('3. A call was made and paid for. Its receipt:', await ask(`${url}/api/wallet/metered/call`, null, call))
    show('4. What was used so far:', await ask(`${url}/api/wallet/metered/usage`, key))
    show('5. What is left:', await ask(`${url}/api/wallet`, key))
  } finally {
    server.kill('SIGTERM')
    await ended
  }
}

/** The address that the platform says it listens on. */
function platformUrl(stderr: NodeJS.ReadableStream): Promise<string> {
  return new Promise((resolve, reject) => {
    let said = ''
    const fail = () => reject(new Error(`The platform did not start. It said: ${said}`))
    const timer = setTimeout(fail, PATIENCE_MS)
    stderr.on('data', (chunk) => {
      said += chunk
      const url = /platform on (http:\S+) /.exec(said)?.[1]
      if (url === undefined) return
      clearTimeout(timer)
      resolve(url)
    })
    stderr.on('end', fail)
  })
}

/** @param body sent with POST; GET without one */
async function ask(url: string, key: string | null, body?: unknown): Promise<Record<string, unknown>> {
  const reply = await fetch(url, {
    headers: {
      ...(key === null ? {} : { authorization: `Bearer ${key}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
  })
  if (!reply.ok) throw new Error(`${url} answered ${reply.status}: ${await reply.text()}`)
  return (await reply.json()) as Record<string, unknown>
}

function show(title: string, value: unknown): void {
  console.log(`${title}\n\n${JSON.stringify(value, null, 2).replaceAll(/^/gm, '   ')}\n`)
}

import { fileURLToPath } from 'node:url'
import { startConstant } from './http-nginx.ts'
import { freePort, isInstalled, type Running, startServer } from './http-process.ts'

/** What the upstream answers to a request that asks for no stream. */
export const COMPLETION = JSON.stringify({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1760000000,
  model: 'm',
  choices: [
    {
      index: 0,
      message: { role: 'assistant', content: 'Hello there, this is a short answer.' },
      finish_reason: 'stop',
    },
  ],
  usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
})

/** A provider that costs the machine as little as can be: nginx where it is installed, else this Node. */
export function startJsonUpstream(folder: string): Promise<Running> {
  return isInstalled('nginx') ? startConstant(folder, COMPLETION) : startStreamUpstream()
}

/** A provider that streams; see `http-upstream-process.ts`. */
export async function startStreamUpstream(): Promise<Running> {
  const port = await freePort()
  const script = fileURLToPath(new URL('http-upstream-process.ts', import.meta.url))
  return startServer(process.execPath, ['--import', 'tsx', script, String(port)], { port })
}

/** How many streams the provider's clients have left before their end. */
export async function abandonedStreams({ port }: Running): Promise<number> {
  const response = await fetch(`http://127.0.0.1:${port}/abandoned`)
  return Number(await response.text())
}

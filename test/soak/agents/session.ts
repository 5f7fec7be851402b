import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { GatewayProcess } from '../../e2e/gateway-process.ts'
import type { Place } from '../../e2e/server.ts'
import type { Agent } from './agents.ts'

const PATIENCE_MS = 120_000

/** A prompt that an agent works on. */
export interface Work {
  /** Output and status at its end. */
  end: Promise<{ code: number | null; said: string }>
  /** Interrupts it as a terminal does: the whole group of its processes. */
  interrupt(): void
}

/**
 * The session of an agent in a folder and a home of its own, without a network.
 *
 * @param program the words that start it
 */
export function startSession(
  [program, ...first]: readonly [string, ...string[]],
  agent: Agent,
  gateway: GatewayProcess,
  place: Place,
  model: string,
) {
  agent.prepare(gateway, place, model)
  let isFirst = true
  return {
    ask(text: string): Work {
      const { words, env } = agent.prompt(gateway, text, { isFirst, model })
      isFirst = false
      const { HOME, TMPDIR } = { HOME: place.home, TMPDIR: place.temporary }
      const child = spawn(program, [...first, ...words], {
        cwd: place.project,
        env: { PATH: process.env.PATH, HOME, TMPDIR, ...env },
        stdio: ['ignore', 'pipe', 'pipe'],
        detached: true,
      })
      // Some agents do their work in a child of their own, which a signal to its parent alone does not reach.
      const signal = (name: NodeJS.Signals) => process.kill(-(child.pid as number), name)
      const timer = setTimeout(() => signal('SIGKILL'), PATIENCE_MS)
      const said: string[] = []
      child.stdout.on('data', (piece) => said.push(String(piece)))
      child.stderr.on('data', (piece) => said.push(String(piece)))
      const end = once(child, 'close').then(([code]) => {
        clearTimeout(timer)
        return { code: code as number | null, said: said.join('') }
      })
      return { end, interrupt: () => void signal('SIGINT') }
    },
  }
}

import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { bundledProgram } from '../doubles/bundled-program.ts'

/** A process of ours that is asked by lines and answers by lines. */
export interface Peer {
  child: ChildProcess
  /** The next line that it writes. */
  line(): Promise<string>
  ask(line: string): Promise<string>
  /** Lets it end, and waits until it has. */
  end(): Promise<void>
}

/** Starts `script`, which lies beside `from` (a module's own URL). */
export function startPeer(script: string, from: string, args: readonly string[]): Peer {
  const file = fileURLToPath(new URL(script, from))
  const child = spawn(process.execPath, [bundledProgram(file), ...args], { stdio: ['pipe', 'pipe', 'inherit'] })
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
  const line = async () => {
    const { value, done } = await lines.next()
    assert.ok(!done, `${script} ended without a line`)
    return value
  }
  return {
    child,
    line,
    ask(text) {
      child.stdin.write(`${text}\n`)
      return line()
    },
    async end() {
      const exited = once(child, 'exit')
      child.stdin.end()
      assert.deepEqual(await exited, [0, null], script)
    },
  }
}

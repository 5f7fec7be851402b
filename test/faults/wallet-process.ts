import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface, type Interface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { bundledProgram } from '../doubles/bundled-program.ts'

/** A process that works on a wallet. */
export interface WalletProcess {
  child: ChildProcess
  /** Lines of its output. */
  lines: Interface
  /** Resolves when it has ended. */
  ended: Promise<{ code: number | null; complaints: string }>
}

/** Programs of this folder. */
export interface WalletPrograms {
  /** A folder for stores. */
  folder: string
  start(program: 'wallet-spender' | 'wallet-caller' | 'archive-run', args: readonly string[]): WalletProcess
  /** Ends what still runs and removes the files. */
  remove(): void
}

export function walletPrograms(): WalletPrograms {
  const folder = mkdtempSync(join(tmpdir(), 'gazeway-wallet-faults-'))
  const running = new Set<ChildProcess>()
  return {
    folder,
    start(program, args) {
      const file = fileURLToPath(new URL(`${program}.ts`, import.meta.url))
      const child = spawn(process.execPath, [bundledProgram(file), ...args], {
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      running.add(child)
      let complaints = ''
      child.stderr.setEncoding('utf8').on('data', (text: string) => {
        complaints += text
      })
      const ended = once(child, 'close').then(([code]) => {
        running.delete(child)
        return { code, complaints }
      })
      return { child, lines: createInterface({ input: child.stdout }), ended }
    },
    remove() {
      for (const child of running) child.kill('SIGKILL')
      rmSync(folder, { recursive: true })
    },
  }
}

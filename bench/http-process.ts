import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'

/** Times in /proc are counted in hundredths of a second on every Linux (USER_HZ). */
const TICK_US = 10_000
const STARTED_WITHIN_MS = 30_000

/** A server in a process of its own. */
export interface Running {
  pid: number
  port: number
  /** Resolves once it has ended. */
  stop(): Promise<void>
}

/**
 * Starts a server and waits until its port takes connections.
 *
 * @throws Error with what it wrote, when it ends first or takes longer than 30 s
 */
export async function startServer(
  command: string,
  args: readonly string[],
  { port, env = {} }: { port: number; env?: Record<string, string> },
): Promise<Running> {
  const child = spawn(command, args, {
    env: { PATH: process.env.PATH ?? '', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const said: string[] = []
  for (const output of [child.stdout, child.stderr]) output.on('data', (chunk) => said.push(String(chunk)))
  const end = () => void child.kill('SIGKILL')
  process.once('exit', end)
  if (!(await listens(child, port))) {
    end()
    throw new Error(`${command} ${args.join(' ')} did not start. It said: ${said.join('')}`)
  }
  return {
    pid: child.pid ?? 0,
    port,
    async stop() {
      process.removeListener('exit', end)
      const ended = once(child, 'exit')
      child.kill('SIGTERM')
      await ended
    },
  }
}

async function listens(child: ChildProcess, port: number): Promise<boolean> {
  const deadline = performance.now() + STARTED_WITHIN_MS
  while (child.exitCode === null && performance.now() < deadline) {
    if (await accepts(port)) return true
    await delay(20)
  }
  return false
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
}

/** Processor time of a process so far, its own and the system's for it, in microseconds; null where there is no /proc. */
export function cpuTime(pid: number): number | null {
  const file = `/proc/${pid}/stat`
  if (!existsSync(file)) return null
  // The second field is the command's name in brackets, which may hold anything.
  const fields = readFileSync(file, 'utf8').split(') ').at(-1)?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) * TICK_US
}

/** Megabytes (10⁶ bytes) that a process has in memory. */
export function residentMemory(pid: number): number {
  return (Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' })) * 1024) / 1e6
}

/** Tells whether a command is installed. */
export function isInstalled(command: string): boolean {
  const folders = [...(process.env.PATH ?? '').split(':'), '/usr/sbin']
  return folders.some((folder) => existsSync(`${folder}/${command}`))
}

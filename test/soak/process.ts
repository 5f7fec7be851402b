import { readdirSync, readFileSync, readlinkSync } from 'node:fs'

/** Resident memory of a process in MB (Linux). */
export function residentMb(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024
}

/** Sockets that a process holds open (Linux). */
export function openSockets(pid: number): number {
  const folder = `/proc/${pid}/fd`
  return readdirSync(folder).filter((fd) => {
    try {
      return readlinkSync(`${folder}/${fd}`).startsWith('socket:')
    } catch {
      // Closed since the folder was read.
      return false
    }
  }).length
}

/** Waits until a process holds no more than `count` sockets, at most `patienceMs`. @returns how many it holds */
export async function socketsDownTo(pid: number, count: number, patienceMs: number): Promise<number> {
  const until = Date.now() + patienceMs
  for (;;) {
    const open = openSockets(pid)
    if (open <= count || Date.now() > until) return open
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

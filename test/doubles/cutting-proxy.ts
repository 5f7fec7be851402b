import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { endWithTests } from './end-with-tests.ts'

/** A proxy to a server that loses connections. */
export interface CuttingProxy {
  port: number
  /** Drops the next connection that sends `words` when the answer arrives. Resolves after that. */
  cutAnswerTo(words: string): Promise<void>
  close(): Promise<void>
}

/** Starts a proxy to a local port. */
export async function startCuttingProxy(target: number): Promise<CuttingProxy> {
  const sockets = new Set<Socket>()
  let fatal: string | undefined
  let lost = () => {}
  const server = createServer((client) => {
    const upstream = connect(target, '127.0.0.1')
    const ends = [client, upstream]
    let isDoomed = false
    const cut = () => {
      for (const end of ends) end.destroy()
    }
    for (const end of ends) {
      sockets.add(end)
      end.on('error', cut).on('close', () => {
        sockets.delete(end)
        cut()
      })
    }
    client.on('data', (bytes) => {
      if (fatal !== undefined && bytes.includes(fatal)) {
        isDoomed = true
        fatal = undefined
      }
      upstream.write(bytes)
    })
    upstream.on('data', (bytes) => {
      if (!isDoomed) return void client.write(bytes)
      cut()
      lost()
    })
  })
  endWithTests(server).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    cutAnswerTo(words) {
      fatal = words
      return new Promise((resolve) => {
        lost = resolve
      })
    },
    async close() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

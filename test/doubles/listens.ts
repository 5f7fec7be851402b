import { once } from 'node:events'
import { connect } from 'node:net'

/** Tells whether a process takes connections. */
export async function listens(url: string): Promise<boolean> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  const open = await once(socket, 'connect').then(
    () => true,
    () => false,
  )
  socket.destroy()
  return open
}

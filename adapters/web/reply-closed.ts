import type { ServerResponse } from 'node:http'

const LISTENERS = Symbol('listeners of the end')
/** Stored on the reply itself. A map of all replies would cost more. */
type Listened = ServerResponse & { [LISTENERS]?: (() => void)[] }

/**
 * Calls `listener` once, when a reply has been sent or its client has disconnected.
 *
 * Node gets one listener per reply. It would keep several in an array, which the same code makes for connections. As those
 * live for long, V8 makes all such arrays old at once, and an old one keeps its listeners, and with them whole calls,
 * until old memory is collected.
 */
export function onReplyClosed(outgoing: ServerResponse, listener: () => void): void {
  const reply: Listened = outgoing
  const known = reply[LISTENERS]
  if (known !== undefined) {
    known.push(listener)
    return
  }
  const listeners = [listener]
  reply[LISTENERS] = listeners
  outgoing.on('close', () => {
    for (const listen of listeners.splice(0)) listen()
  })
}

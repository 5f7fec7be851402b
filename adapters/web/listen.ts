import { createServer, type Server } from 'node:net'
import { GazewayError } from '../../src/errors.ts'

/** Listening address of a server. */
export interface Address {
  host: string
  port: number
  /** Flag that sets the port, named in errors. */
  flag: string
}

/** OS error codes for a host that is not a local address. */
const NOT_HERE = new Set(['ENOTFOUND', 'EAI_AGAIN', 'EAI_FAIL', 'EADDRNOTAVAIL', 'EAFNOSUPPORT', 'EINVAL'])

/**
 * Starts listening.
 *
 * @throws GazewayError `conflict` when the port is taken
 * @throws GazewayError `config_invalid` with the flag in `param`: the host is not a local address, or the port needs
 *   privileges
 */
export function listen(server: Server, address: Address): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error) => reject(faultOf(error, address)))
    server.listen(address.port, address.host, () => resolve())
  })
}

/**
 * Checks that servers can listen, before steps that cannot be undone.
 *
 * @throws GazewayError as `listen`
 */
export async function requireFree(addresses: readonly Address[]): Promise<void> {
  const servers = addresses.map((address) => ({
    server: createServer((socket) => socket.destroy()),
    address,
  }))
  try {
    // All stay open until the end, so that two services on the same port are reported.
    for (const { server, address } of servers) await listen(server, address)
  } finally {
    await Promise.all(servers.map(({ server }) => new Promise((done) => server.close(done))))
  }
}

/** Converts the system's error to one that says what to do. */
export function faultOf(
  cause: NodeJS.ErrnoException,
  { host, port, flag }: Address,
  platform: NodeJS.Platform = process.platform,
): Error {
  if (cause.code === 'EADDRINUSE') {
    const advice = `Stop what listens there, or choose another port with ${flag}.`
    return new GazewayError('conflict', `Port ${port} on ${host} is in use. ${advice}`, { cause })
  }
  if (cause.code === 'EACCES')
    return new GazewayError(
      'config_invalid',
      platform === 'win32'
        ? `${flag}: Windows keeps port ${port} for another use (netsh interface ipv4 show excludedportrange tcp); must be one that it does not keep.`
        : `${flag}: this user may not listen on port ${port}; must be a port from 1024 to 65535.`,
      { param: flag, cause },
    )
  if (NOT_HERE.has(cause.code ?? ''))
    return new GazewayError(
      'config_invalid',
      `--host: ${host} is not an address of this machine (${cause.code}); must be one of its addresses or names, ` +
        'such as 127.0.0.1, or 0.0.0.0 for all.',
      { param: '--host', cause },
    )
  return cause
}

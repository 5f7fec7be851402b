import './uncompiled.ts'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { serveStdio as serveConnection } from '@modelcontextprotocol/server/stdio'
import type { LoadedConfig } from '../../src/config/config.ts'
import type { Log } from '../../src/config/log.ts'
import { keepCode } from '../../src/kept-code.ts'
import { STOP_SIGNALS } from '../command/stop-signals.ts'
import { createCallsInFlight } from './calls-in-flight.ts'
import { createMcpServer } from './mcp-server.ts'
import { gatewayOpener } from './open-gateway.ts'
import { toolChoice } from './tool-choice.ts'
import { stdioTransport } from './transport.ts'

/** Time that calls in flight get at shutdown: after a signal, the end of input or the end of the connection. */
const SHUTDOWN_MS = 10_000

/**
 * Serves the tools over stdio until the client disconnects or the process is stopped. The client's first message
 * chooses the protocol era.
 *
 * @param onServing called once messages and signals are handled
 * @returns when everything is flushed; the process may then exit
 * @throws GazewayError `config_invalid` when the configuration offers no tool
 */
export async function serveStdio(loaded: LoadedConfig, log: Log, onServing: () => void): Promise<void> {
  const choice = toolChoice(loaded.config.mcp)
  const gateway = gatewayOpener(loaded, log)
  const calls = createCallsInFlight({ loaded, log, gateway })
  const transport = stdioTransport(process.stdin, process.stdout)
  let isListed = false
  /** Keeps all other code, so that an update of the package does not concern this process. */
  function keepRest(): void {
    if (isListed) return
    isListed = true
    keepCode().then(
      () => log.debug('All code is kept.'),
      // Nothing is lost unless an update comes: a call reads its code from the files.
      (err) => log.debug('Failed to keep all code.', { err }),
    )
  }

  const stopped = new Promise<void>((resolve) => {
    /** Aborts the calls in progress. The client gets their errors before the connection closes. */
    function stop(): void {
      calls.stop()
      transport.end()
      resolve()
    }
    // Never removed: without a listener of ours, libraries that listen for signals would end the process themselves.
    for (const signal of STOP_SIGNALS) process.on(signal, stop)
  })
  serveConnection(
    ({ era }) =>
      createMcpServer(era, { dataDir: loaded.dataDir, gateway, callTool: calls.callTool, choice, onListed: keepRest }),
    {
      transport,
      onerror: (err) => log.debug('Failed to read a message.', { err }),
    },
  )
  const overdue = Promise.race([transport.closed, stopped, once(process.stdin, 'end')]).then(() => delay(SHUTDOWN_MS))
  onServing()
  await transport.closed
  // All calls are aborted by now, but each still writes its record.
  await Promise.race([calls.settled(), overdue])
  await gateway.close()
}

import { OPEN_FILES } from './open-files.ts'
import { roomFaults } from './room-faults.ts'

/**
 * The rooms of `src`, lowest first: a room imports only rooms before it, types included. The files beside the rooms
 * (`errors.ts` at the bottom, `gateway.ts` at the top) count as rooms of their own.
 */
const ROOMS = [
  'errors.ts',
  'kept-code.ts',
  'lazily.ts',
  'text',
  'wire',
  'providers',
  'store',
  'config',
  'base.ts',
  'repository',
  'signing',
  'assistants',
  'coding-agents',
  'idempotency',
  'identity',
  'calls',
  'coding-sessions',
  'wallet',
  'alerts',
  'inference',
  'metering',
  'reconcile',
  'memory',
  'gaze',
  'context',
  'projects',
  'review',
  'conversations',
  'research',
  'sessions',
  'skills',
  'chain',
  'payments',
  'escrow',
  'tasks',
  'agent',
  'connections',
  'agent-gateway',
  'remote',
  'forget',
  'gateway.ts',
  'storeless-gateway.ts',
]

const faults = roomFaults('.', { rooms: ROOMS, open: OPEN_FILES })
for (const fault of faults) console.error(fault)
if (faults.length > 0) {
  console.error(`The order of the rooms, lowest first: ${ROOMS.join(', ')}.`)
  process.exitCode = 1
}

import { alertWarnings } from '../../src/alerts/silent-alerts.ts'
import type { LoadedConfig } from '../../src/config/config.ts'
import type { Log } from '../../src/config/log.ts'
import { GazewayError } from '../../src/errors.ts'
import { GroupName } from '../../src/identity/group.ts'
import type { GroupRecord, Groups } from '../../src/identity/groups.ts'
import { toUsd } from '../../src/text/money.ts'
import { forgiveDebts } from '../../src/wallet/budget/forgive-debts.ts'
import { releasePresumed } from '../../src/wallet/budget/presumed-spending.ts'
import { checked } from './flag-value.ts'
import { alertsIn, budgetsIn, type SessionFlags, sessionLimitsIn } from './key-flags.ts'
import { groupTable } from './key-table.ts'
import { warn } from './warn.ts'
import { all, printList, withKeys, withStoredKeys } from './with-keys.ts'

/** Flags of `gazeway group create` and `gazeway group edit`, as commander names them. */
export interface GroupFlags extends SessionFlags {
  name?: string
  /** Each such as `5/day`. */
  budget?: string[]
  /** Each such as `80%`. */
  alert?: string[]
}

/**
 * Creates a group and prints its id on stdout.
 *
 * @throws GazewayError `conflict` when another group has the name, `validation_failed` with the flag in `param`
 */
export async function createGroup(loaded: LoadedConfig, log: Log, flags: GroupFlags): Promise<void> {
  const name = checked('--name', GroupName, flags.name ?? '')
  const budgets = budgetsIn(flags.budget ?? [])
  const alerts = alertsIn(flags.alert ?? [])
  const limits = sessionLimitsIn(flags)
  const { id } = await withKeys(loaded, log, ({ groups, config }) => {
    warn(alertWarnings({ alerts, budgets }, config.alerts))
    return groups.create({ name, budgets, limits, alerts })
  })
  process.stdout.write(`${id}\n`)
  process.stderr.write(
    `Created the group ${name}. To add a key: gazeway key create --group, or gazeway key edit --group\n`,
  )
}

/** Prints all groups, newest first, as a table or as JSON. */
export async function listGroups(loaded: LoadedConfig, log: Log, { json }: { json?: boolean }): Promise<void> {
  const records = await withStoredKeys(loaded, log, ({ groups }) => all(groups.list))
  if (json) printList(records)
  else if (records.length === 0)
    process.stderr.write('No groups yet. Create one with: gazeway group create --name NAME --budget 100/month\n')
  else process.stdout.write(groupTable(records))
}

/**
 * Changes the settings of a group that the flags name. Running servers apply the change within 5 s.
 *
 * @param group its id or its name
 * @throws GazewayError `not_found`, `conflict` when another group has the name, `validation_failed`
 */
export async function editGroup(loaded: LoadedConfig, log: Log, group: string, flags: GroupFlags): Promise<void> {
  const limits = sessionLimitsIn(flags)
  const change = {
    ...(flags.name !== undefined && { name: checked('--name', GroupName, flags.name) }),
    ...(flags.budget !== undefined && { budgets: budgetsIn(flags.budget) }),
    ...(Object.keys(limits).length > 0 && { limits }),
    ...(flags.alert !== undefined && { alerts: alertsIn(flags.alert) }),
  }
  if (Object.keys(change).length === 0)
    throw new GazewayError(
      'validation_failed',
      'Nothing to change. Give --name, --budget, --session, --alert, or several of them.',
      {
        param: '--budget',
      },
    )
  await withStoredKeys(loaded, log, async ({ groups, config }) => {
    const { id } = await found(groups, group)
    const record = await groups.change(id, change)
    warn(alertWarnings(record, config.alerts))
    process.stdout.write(groupTable([record]))
  })
  process.stderr.write('Running servers apply the change within 5 seconds.\n')
}

/**
 * Deletes a group without keys.
 *
 * @param group its id or its name
 * @throws GazewayError `not_found`, or `conflict` for a group that has keys
 */
export async function deleteGroup(loaded: LoadedConfig, log: Log, group: string): Promise<void> {
  await withStoredKeys(loaded, log, async ({ groups }) => groups.remove((await found(groups, group)).id))
  process.stderr.write(`Deleted the group ${group}.\n`)
}

/**
 * Forgives the debts of the budgets of a group.
 *
 * @param group its id or its name
 * @throws GazewayError `not_found`
 */
export async function forgiveGroup(loaded: LoadedConfig, log: Log, group: string): Promise<void> {
  const forgiven = await withStoredKeys(loaded, log, async ({ groups, store, now }) =>
    forgiveDebts(store, (await found(groups, group)).id, now()),
  )
  process.stderr.write(`Forgave ${toUsd(forgiven)} USD that the budgets of the group owed.\n`)
}

/**
 * Releases what is presumed spent of the keys of a group.
 *
 * @param group its id or its name
 * @throws GazewayError `not_found`
 */
export async function releaseGroup(loaded: LoadedConfig, log: Log, group: string): Promise<void> {
  const released = await withStoredKeys(loaded, log, async ({ groups, store }) =>
    releasePresumed(store, (await found(groups, group)).id),
  )
  process.stderr.write(`Released ${toUsd(released)} USD that was presumed spent of the group.\n`)
}

async function found(groups: Groups, idOrName: string): Promise<GroupRecord> {
  const group = await groups.find(idOrName)
  if (group !== null) return group
  throw new GazewayError('not_found', 'The group does not exist; `gazeway group list` shows all groups.')
}

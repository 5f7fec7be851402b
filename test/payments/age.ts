import type { Store } from '../../src/store/store.ts'

/** Lets time pass for the payments that are not ended, in milliseconds: their leases and credentials are older by it. */
export async function age({ db }: Store, ms: number): Promise<void> {
  const earlier = (time: string) => new Date(Date.parse(time) - ms).toISOString()
  const open = await db
    .selectFrom('payments')
    .select(['id', 'lease_until', 'expires_at'])
    .where('lease_until', 'is not', null)
    .execute()
  for (const { id, lease_until, expires_at } of open)
    await db
      .updateTable('payments')
      .set({ lease_until: earlier(lease_until as string), expires_at: earlier(expires_at) })
      .where('id', '=', id)
      .execute()
}

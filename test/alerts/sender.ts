import { createAlerts } from '../../src/alerts/alerts.ts'
import { openStore } from '../../src/store/open-store.ts'

// A process that sends alerts until it is killed.
const { STORE = '', WEBHOOK_URL = '', WEBHOOK_SECRET = '' } = process.env
const store = await openStore(STORE)
const { sending } = createAlerts({
  store,
  now: () => new Date(),
  webhook: () => ({ url: WEBHOOK_URL, secret: WEBHOOK_SECRET }),
  mostAbsorbed: () => 0,
  onForeign() {},
  onLoop() {},
  onError: () => process.exit(1),
  onGivenUp: () => process.exit(1),
})
for (const { batch } of sending) await batch(500)

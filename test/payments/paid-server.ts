// A process behind the payment gate. Waits for its settings (`Start`) as a message, and answers with its URL.
import { once } from 'node:events'
import { startPaidApp } from './paid-app.ts'
import type { Start } from './paid-process.ts'

const [{ storeUrl, config, ...options }] = (await once(process, 'message')) as [Start]
process.send?.((await startPaidApp(storeUrl, config, options)).url)

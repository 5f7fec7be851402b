import type { KeyRecord } from '../../../../../src/identity/key.ts'
import { api } from '../../api.ts'
import { notify } from '../../components/content.ts'
import { FormDialog } from '../../components/forms.ts'
import { usd } from '../../format.ts'
import { amountIn } from '../../typed.ts'

const FIELDS = [
  { name: 'amount', label: 'Amount in USD', at: 'amount_usd', inputMode: 'decimal', required: true },
  {
    name: 'reference',
    label: 'Reference',
    hint: 'Unique id of the payment, such as an invoice number. Each is credited once.',
    required: true,
    autoComplete: 'off',
  },
] as const

/** Credits the account of a key. */
export function DepositDialog({ to, onClose }: { to: KeyRecord; onClose: () => void }) {
  const deposit = async ({ amount, reference }: { amount: string; reference: string }) => {
    const body = { caller_id: to.id, amount_usd: amountIn(amount), reference: reference.trim() }
    const { available_usd } = await api.post('/api/wallet/metered/deposit', body)
    notify(`${to.name} now has ${usd(available_usd)}.`)
    onClose()
  }
  return (
    <FormDialog
      title={`Deposit for ${to.name}`}
      action="Add deposit"
      initial={{ amount: '', reference: '' }}
      fields={FIELDS}
      onSubmit={deposit}
      onClose={onClose}
    />
  )
}

import { type FaultOf, Field, TextInput } from '../../components/components.ts'

/** Field for the shares of each budget at which an alert is sent. */
export function AlertsField(props: { of: string; faultOf: FaultOf; onEdit: (alerts: string) => void }) {
  const { of, faultOf, onEdit } = props
  return (
    <Field
      label="Alerts at, in percent of a budget"
      error={faultOf('alerts')}
      hint="Such as 50, 80. Each sends one alert per budget and period to alerts.webhook_url. Empty: no alerts."
    >
      <TextInput value={of} onInput={onEdit} inputMode="text" placeholder="none" autoComplete="off" />
    </Field>
  )
}

import { billingKills } from '../faults/billing-kills.ts'

billingKills(300)

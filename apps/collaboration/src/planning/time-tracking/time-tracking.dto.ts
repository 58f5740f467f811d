import { Text } from '@rookery/api-v4';

const FORMS = '`1w 2d 3h 30m`; a number alone means hours. A week has 5 days of 8 hours, a month 4 weeks.';

export class EstimateTime {
  @Text({ about: FORMS }) duration: string;
}

export class SpendTime {
  @Text({ about: `${FORMS} A minus sign subtracts the time.` }) duration: string;
}

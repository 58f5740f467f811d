/** Units: days before a token ends on which its people are told; 0 = it ended. Source: reference identity-and-import 4.5. */
export const NOTICE_DAYS: readonly number[] = [60, 30, 7, 0];

/** How many of the notices are behind a token that has so many days left: of a short life only the later ones are told. */
export function noticesPassed(daysLeft: number): number {
  return NOTICE_DAYS.filter((day) => daysLeft <= day).length;
}

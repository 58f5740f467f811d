import { statement } from '@rookery/persistence';

/** Removes the variables from the options of a push. Their values may be secrets. Source: reference identity-and-import 7.6. */
export const forgetPushVariables = statement<{ id: number }, never>(
  'pushes_forget_variables',
  `update pushes set options = array(
     select one.option from unnest(options) with ordinality as one (option, place)
     where one.option not like 'ci.variable=%' order by one.place)
   where id = :id::bigint and exists (select 1 from unnest(options) as one (option) where one.option like 'ci.variable=%')`,
);

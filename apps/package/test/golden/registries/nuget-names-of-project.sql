-- nuget_names_of_project: $1 project, $2 q, $3 prerelease, $4 skip, $5 take
with
  found as (
    select distinct
      named.name_key
    from
      (
        select
          :project::bigint as id
      ) scope,
      lateral (
        select
          v.name_key
        from
          nuget_versions v
          join packages p on p.id = v.package_id
          and p.status in ('default', 'hidden', 'deprecated')
        where
          v.project_id = scope.id
          and position(:q in v.name_key) > 0
          and (
            :prerelease::boolean
            or not v.is_prerelease
          )
        offset
          0
      ) named
  )
select
  (
    select
      count(*)::int
    from
      found
  ) as total,
  array(
    select
      name_key
    from
      found
    order by
      name_key
    offset
      :skip::int
    limit
      :take::int
  ) as names

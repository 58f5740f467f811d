-- pypi_names_of_project: $1 project, $2 after
select distinct
  on (names.name_key) names.name_key,
  names.name
from
  (
    select
      :project::bigint as id
  ) scope,
  lateral (
    with recursive
      found as (
        (
          select
            p.name_key,
            p.name
          from
            packages p
          where
            p.project_id = scope.id
            and p.package_type = 'pypi'
            and p.name_key > :after
            and p.status in ('default', 'hidden', 'deprecated')
          order by
            p.name_key
          limit
            1
        )
        union all
        select
          next.name_key,
          next.name
        from
          found,
          lateral (
            select
              p.name_key,
              p.name
            from
              packages p
            where
              p.project_id = scope.id
              and p.package_type = 'pypi'
              and p.name_key > found.name_key
              and p.status in ('default', 'hidden', 'deprecated')
            order by
              p.name_key
            limit
              1
          ) next
      )
    select
      name_key,
      name
    from
      found
    limit
      2000
  ) names
order by
  names.name_key,
  names.name
limit
  2000

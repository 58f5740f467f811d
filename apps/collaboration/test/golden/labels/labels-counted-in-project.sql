-- labels_counted_issues_in_project
with
  a as materialized (
    select
      a.*
    from
      (
        select
          p.id as project_id,
          p.name,
          p.path,
          home.full_path || '/' || p.path as full_path,
          home.full_name || ' / ' || p.name as name_with_namespace,
          p.description,
          p.created_at,
          home.traversal_ids,
          p.emails_enabled,
          (
            p.issues_access_level = 'enabled'
            or (
              p.issues_access_level = 'private'
              and held.level >= 10
            )
          ) as reads_issues,
          (
            p.merge_requests_access_level = 'enabled'
            or (
              p.merge_requests_access_level = 'private'
              and held.level >= 10
            )
          )
          and coalesce(p.repository_access_level, 'enabled') <> 'disabled'
          and (
            held.level >= 20
            or (
              p.visibility <> 'private'
              and (
                held.level >= 10
                or coalesce(p.repository_access_level, 'enabled') = 'enabled'
              )
            )
          ) as reads_merge_requests,
          (
            p.snippets_access_level = 'enabled'
            or (
              p.snippets_access_level = 'private'
              and held.level >= 10
            )
          ) as reads_snippets,
          held.level >= 10 as is_member,
          held.level >= 15 as reads_confidential,
          held.level >= 20 as reads_internal
        from
          directory_projects p
          join directory_namespaces home on home.id = p.namespace_id
          cross join lateral (
            select
              case
                when:$3::boolean then 50
                when:$2::bigint is null then 0
                else coalesce(
                  (
                    select
                      max(held.level)::integer
                    from
                      (
                        select
                          m.access_level as level
                        from
                          directory_memberships m
                        where
                          m.user_id =:$2::bigint
                          and m.source_type = 'project'
                          and m.source_id = p.id
                          and (
                            m.expires_on is null
                            or m.expires_on > (statement_timestamp() at time zone 'UTC')::date
                          )
                        union all
                        select
                          least(s.access_level, m.access_level)
                        from
                          directory_shares s
                          join directory_namespaces invited on invited.id = s.group_id
                          join directory_memberships m on m.user_id =:$2::bigint
                          and m.source_type = 'namespace'
                          and m.source_id = any (invited.traversal_ids)
                        where
                          s.source_type = 'project'
                          and s.source_id = p.id
                          and (
                            s.expires_on is null
                            or s.expires_on > (statement_timestamp() at time zone 'UTC')::date
                          )
                          and (
                            m.expires_on is null
                            or m.expires_on > (statement_timestamp() at time zone 'UTC')::date
                          )
                        union all
                        select
                          m.access_level as level
                        from
                          directory_memberships m
                        where
                          m.user_id =:$2::bigint
                          and m.source_type = 'namespace'
                          and m.source_id = any (home.traversal_ids)
                          and (
                            m.expires_on is null
                            or m.expires_on > (statement_timestamp() at time zone 'UTC')::date
                          )
                        union all
                        select
                          least(s.access_level, m.access_level)
                        from
                          directory_shares s
                          join directory_namespaces invited on invited.id = s.group_id
                          join directory_memberships m on m.user_id =:$2::bigint
                          and m.source_type = 'namespace'
                          and m.source_id = any (invited.traversal_ids)
                        where
                          s.source_type = 'namespace'
                          and s.source_id = any (home.traversal_ids)
                          and (
                            s.expires_on is null
                            or s.expires_on > (statement_timestamp() at time zone 'UTC')::date
                          )
                          and (
                            m.expires_on is null
                            or m.expires_on > (statement_timestamp() at time zone 'UTC')::date
                          )
                        union all
                        select
                          50
                        where
                          home.kind = 'user'
                          and home.owner_id =:$2::bigint
                      ) held
                  ),
                  0
                )
              end as level
            offset
              0
          ) held
        where
          p.id =:$5::bigint
          and (
            p.visibility = 'public'
            or held.level >= 10
            or (
              p.visibility = 'internal'
              and:$2::bigint is not null
              and not:$4::boolean
            )
          )
        offset
          0
      ) a
    where
      a.reads_issues
  )
select
  wanted.id,
  c.*
from
  unnest(:$1::bigint[]) wanted (id)
  cross join lateral (
    select
      count(*) filter (
        where
          seen.state = 'opened'
      )::integer as opened,
      count(*) filter (
        where
          seen.state = 'closed'
      )::integer as closed
    from
      (
        select
          i.state as state
        from
          a
          join label_links ll on ll.project_id =:$5::bigint
          and ll.label_id = wanted.id
          and ll.noteable_type = 'Issue'
          join issues i on i.id = ll.noteable_id
        where
          a.reads_issues
          and (
            not i.confidential
            or a.reads_confidential
            or (
              i.author_id =:$2::bigint
              and a.is_member
            )
            or:$2::bigint in (
              select
                seen.user_id
              from
                issue_assignees seen
              where
                seen.issue_id = i.id
            )
          )
        limit
          10001
      ) seen
  ) c

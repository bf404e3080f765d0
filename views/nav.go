package views

// Nav is what the navigation offers: only what whoever asks may reach. It is
// filled by the handlers, which know who asks.
type Nav struct {
	// Account is who is signed in; "" where nobody has an account.
	Account string
	// Rights stands for what that person may do as of this page: when it is
	// another one on the server, the page is loaded again. "" asks nothing.
	Rights string
	// Here is where that page is loaded from: not the address of a POST.
	Here string

	Runs, Agents, Secrets, Access, CompanyActivity, Companies             bool
	General, Environments, Leases, Experimental, People, InstanceActivity bool
}

// WholeNav offers everything, to somebody of that name.
func WholeNav(account string) Nav {
	return Nav{Account: account, Runs: true, Agents: true, Secrets: true, Access: true, CompanyActivity: true, Companies: true,
		General: true, Environments: true, Leases: true, Experimental: true, People: true, InstanceActivity: true}
}

type navItem struct {
	href, label string
	section     Section
}

// companyLinks are those of the company that is picked, and of the companies.
func (p LayoutProps) companyLinks() []navItem {
	var links []navItem
	add := func(offered bool, href, label string, section Section) {
		if offered {
			links = append(links, navItem{href, label, section})
		}
	}
	switch {
	case p.company != nil:
		id := p.company.ID
		add(p.nav.Runs, RunsPath(id), "Runs", SectionRuns)
		add(p.nav.Agents, AgentsPath(id), "Agents", SectionAgents)
		add(p.nav.Secrets, SecretsPath(id), "Secrets", SectionSecrets)
		add(p.nav.Access, AccessPath(id), "Access", SectionAccess)
		add(p.nav.CompanyActivity, CompanyActivityPath(id), "Activity", SectionCompanyActivity)
	default:
		add(p.nav.Runs, CompaniesPath, "Runs", SectionRuns)
	}
	add(p.nav.Companies, CompaniesPath, "Companies", SectionCompanies)
	return links
}

// instanceLinks are those of the whole instance.
func (p LayoutProps) instanceLinks() []navItem {
	var links []navItem
	for _, l := range []struct {
		offered bool
		navItem
	}{
		{p.nav.General, navItem{GeneralPath, "General", SectionGeneral}},
		{p.nav.Environments, navItem{Environments, "Environments", SectionEnvironments}},
		{p.nav.Leases, navItem{LeasesPath, "Leases", SectionLeases}},
		{p.nav.Experimental, navItem{ExperimentalPath, "Experimental", SectionExperimental}},
		{p.nav.People, navItem{PeoplePath, "People", SectionPeople}},
		{p.nav.InstanceActivity, navItem{InstanceActivityPath, "Activity", SectionInstanceActivity}},
	} {
		if l.offered {
			links = append(links, l.navItem)
		}
	}
	return links
}

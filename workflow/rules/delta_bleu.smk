# being rebuilt
